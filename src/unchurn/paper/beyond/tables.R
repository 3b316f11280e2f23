# The tables of R's mlbench, kernlab and modeldata as CSV files, for `unchurn reproduce beyond`.
#   Debian: apt-get install r-cran-mlbench r-cran-kernlab r-cran-modeldata
#   Rscript tables.R "$UNCHURN_DATA/tables"
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, recursive = TRUE, showWarnings = FALSE)
tables <- list(
  mlbench = c("DNA", "Glass", "Ionosphere", "LetterRecognition", "PimaIndiansDiabetes2", "Satellite",
              "Shuttle", "Sonar", "Soybean", "Vehicle", "Vowel", "BreastCancer", "HouseVotes84", "Zoo"),
  kernlab = c("income", "spam", "ticdata", "musk", "promotergene"),
  modeldata = c("ad_data", "attrition", "cells", "credit_data", "hpc_data", "lending_club", "mlc_churn",
                "parabolic", "penguins", "stackoverflow", "two_class_dat", "wa_churn"))
no_features <- c("Id", "case")  # of BreastCancer and cells: a number, and a split of somebody's
for (package in names(tables)) for (name in tables[[package]]) {
  data(list = name, package = package)
  path <- file.path(folder, paste0(name, ".csv"))
  table <- get(name)
  table <- table[!names(table) %in% no_features]
  write.csv(table, path, row.names = FALSE, fileEncoding = "UTF-8")
}
