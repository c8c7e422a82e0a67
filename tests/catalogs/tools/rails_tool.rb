# Active Record: a connection, the schema as it is dumped, what models ask of their tables, and migrations.
require "active_record"
require "stringio"

ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, username: ENV["PGUSER"], password: ENV["PGPASSWORD"],
                                        database: ENV["PGDATABASE"], schema_search_path: "app, public", min_messages: "warning")
c = ActiveRecord::Base.connection
class Customer < ActiveRecord::Base
  self.table_name = "customer"
end
class Order < ActiveRecord::Base
  self.table_name = "orders"
end
Customer.columns
Order.first
ActiveRecord::SchemaDumper.dump(c, StringIO.new)
c.tables.each { |t| c.columns(t); c.indexes(t); c.foreign_keys(t); c.check_constraints(t) ; c.primary_keys(t); c.table_comment(t) }
c.views
c.data_sources
c.view_exists?("open_orders")
c.table_exists?("customer")
c.index_name_exists?("customer", "customer_name")
c.schema_exists?("app")
c.schema_names
c.extensions
c.extension_enabled?("hstore")
c.current_schema
c.encoding
c.collation
c.ctype
c.session_auth = "DEFAULT" if c.respond_to?(:session_auth=)
c.default_sequence_name("customer", "id")
c.reset_pk_sequence!("customer")
c.pk_and_sequence_for("customer")
c.get_advisory_lock(1)
c.release_advisory_lock(1)
c.disable_referential_integrity { }
c.database_version
ActiveRecord::SchemaMigration.create_table
ActiveRecord::InternalMetadata.create_table
c.enum_types if c.respond_to?(:enum_types)
