# The tables of R's mlbench and kernlab as CSV files, for `unchurn reproduce beyond`.
#   Debian: apt-get install r-cran-mlbench r-cran-kernlab
#   Rscript tables.R "$UNCHURN_DATA/tables"
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, recursive = TRUE, showWarnings = FALSE)
tables <- list(
  mlbench = c("DNA", "Glass", "Ionosphere", "LetterRecognition", "PimaIndiansDiabetes2", "Satellite",
              "Shuttle", "Sonar", "Soybean", "Vehicle", "Vowel"),
  kernlab = c("income", "spam", "ticdata"))
for (package in names(tables)) for (name in tables[[package]]) {
  data(list = name, package = package)
  path <- file.path(folder, paste0(name, ".csv"))
  write.csv(get(name), path, row.names = FALSE, fileEncoding = "UTF-8")
}
