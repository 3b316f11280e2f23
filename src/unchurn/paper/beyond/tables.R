# Tables of R's packages as CSV files, for `unchurn reproduce beyond` and `beyond-short`.
#   Debian: apt-get install r-cran-{mlbench,kernlab,modeldata,caret,mass,cardata,aer,mclust,ipred,th.data,dslabs,ggplot2}
#   Rscript tables.R "$UNCHURN_DATA/tables"
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, recursive = TRUE, showWarnings = FALSE)
tables <- list(
  mlbench = c("DNA", "Glass", "Ionosphere", "LetterRecognition", "PimaIndiansDiabetes2", "Satellite",
              "Shuttle", "Sonar", "Soybean", "Vehicle", "Vowel", "BreastCancer", "HouseVotes84", "Zoo"),
  kernlab = c("income", "spam", "ticdata", "musk", "promotergene"),
  modeldata = c("ad_data", "attrition", "cells", "credit_data", "hpc_data", "lending_club", "mlc_churn",
                "parabolic", "penguins", "stackoverflow", "two_class_dat", "wa_churn"))
newest <- read.csv(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "newest.csv"))
no_features <- c("Id", "case")  # of BreastCancer and cells: a number, and a split of somebody's
for (package in names(tables)) for (name in tables[[package]]) {
  data(list = name, package = package)
  path <- file.path(folder, paste0(name, ".csv"))
  table <- get(name)
  table <- table[!names(table) %in% no_features]
  write.csv(table, path, row.names = FALSE, fileEncoding = "UTF-8")
}
for (i in seq_len(nrow(newest))) {
  row <- newest[i, ]
  data(list = row$name, package = row$package)
  table <- as.data.frame(get(row$name))
  table <- table[!names(table) %in% strsplit(row$without, " ")[[1]]]
  table <- table[!is.na(table[[row$target]]), ]
  write.csv(table, file.path(folder, paste0(row$name, ".csv")), row.names = FALSE, fileEncoding = "UTF-8")
}
