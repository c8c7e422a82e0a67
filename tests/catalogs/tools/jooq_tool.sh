#!/bin/sh
# jOOQ's generator over a schema. JOOQ_JARS says where jooq-codegen, what it needs and PostgreSQL's JDBC driver are.
work=$(mktemp -d)
cat > "$work/jooq.xml" <<END
<configuration xmlns="http://www.jooq.org/xsd/jooq-codegen-3.19.0.xsd">
  <jdbc><driver>org.postgresql.Driver</driver><url>jdbc:postgresql://$PGHOST:$PGPORT/$PGDATABASE?sslmode=disable</url><user>$PGUSER</user><password>$PGPASSWORD</password></jdbc>
  <generator><database><name>org.jooq.meta.postgres.PostgresDatabase</name><includes>.*</includes><inputSchema>app</inputSchema></database>
    <target><packageName>made</packageName><directory>$work</directory></target></generator>
</configuration>
END
java -Dorg.jooq.no-logo=true -Dorg.jooq.no-tips=true -cp "$JOOQ_JARS/*" org.jooq.codegen.GenerationTool "$work/jooq.xml"
ls "$work/made/tables" >&2
rm -rf "$work"
