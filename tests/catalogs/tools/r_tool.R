# What R's DBI asks of a database that is there, by RPostgreSQL.
library(RPostgreSQL)
of <- Sys.getenv
connection <- dbConnect(PostgreSQL(), host = of("PGHOST"), port = as.integer(of("PGPORT")), user = of("PGUSER"), password = of("PGPASSWORD"), dbname = of("PGDATABASE"))
dbListTables(connection)
dbExistsTable(connection, c("app", "customer"))
dbExistsTable(connection, "nosuch")
dbListFields(connection, c("app", "customer"))
dbGetInfo(connection)
dbReadTable(connection, c("app", "orders"))
dbColumnInfo(dbSendQuery(connection, "SELECT * FROM app.customer"))
dbWriteTable(connection, c("app", "of_r"), data.frame(a = 1:3, b = c("x", "y", "z")), row.names = FALSE)
dbRemoveTable(connection, c("app", "of_r"))
dbDisconnect(connection)
