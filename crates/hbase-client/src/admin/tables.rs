//! Tables and namespaces.

use super::{Admin, TableDescriptor};
use crate::call::Repeat;
use crate::error::Error;
use crate::messages::master::{
    CreateNamespaceRequest, CreateTableRequest, DeleteNamespaceRequest, GetTableDescriptorsRequest, GetTableStateRequest,
    GetTableStateResponse, ListNamespaceDescriptorsResponse, ModifyTableRequest, NamespaceRequest, TableDescriptors, TableNames,
    TableRequest, TruncateTableRequest,
};
use crate::messages::region::NamespaceDescriptor;
use crate::messages::registry::Empty;
use crate::names::TableName;
use bytes::Bytes;
use prost::Message;

impl Admin {
    /// Creates a table, parted at these keys: each is the first of a region.
    ///
    /// # Errors
    /// `TableExistsException`, `NamespaceNotFoundException`, or what a server does not accept of the descriptor.
    pub async fn create_table(&self, table: &TableDescriptor, splits: &[Bytes]) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        let request = CreateTableRequest { table_schema: table.to_message(), split_keys: splits.to_vec(), nonce_group, nonce };
        self.run("CreateTable", &request).await?;
        // What was known of a table of that name.
        self.core.locator.table(&table.name).clear();
        Ok(())
    }

    /// Makes a table be as described: families that are missing in the descriptor go with their cells. Its regions are opened again, one
    /// after the other; the table stays in use.
    ///
    /// # Errors
    /// `TableNotFoundException`, or what a server does not accept of the descriptor.
    pub async fn alter_table(&self, table: &TableDescriptor) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        let request = ModifyTableRequest { table_name: table.name.to_message(), table_schema: table.to_message(), nonce_group, nonce };
        self.run("ModifyTable", &request).await
    }

    /// Disables a table: it answers no calls until it is enabled.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotEnabledException`.
    pub async fn disable_table(&self, table: &TableName) -> Result<(), Error> {
        self.run_of_table("DisableTable", table).await
    }

    /// Enables a table that is disabled.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotDisabledException`.
    pub async fn enable_table(&self, table: &TableName) -> Result<(), Error> {
        self.run_of_table("EnableTable", table).await
    }

    /// Removes a table that is disabled, with all that is in it.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotDisabledException`.
    pub async fn delete_table(&self, table: &TableName) -> Result<(), Error> {
        self.run_of_table("DeleteTable", table).await?;
        self.core.locator.table(table).clear();
        Ok(())
    }

    /// Disables a table if it is not, and removes it.
    ///
    /// # Errors
    /// `TableNotFoundException`.
    pub async fn drop_table(&self, table: &TableName) -> Result<(), Error> {
        match self.disable_table(table).await {
            Err(error) if !error.is_exception("TableNotEnabledException") => return Err(error),
            _ => {}
        }
        self.delete_table(table).await
    }

    /// Empties a table that is disabled, and enables it. Regions stay as they are parted, or become one.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotDisabledException`.
    pub async fn truncate_table(&self, table: &TableName, preserve_splits: bool) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        let preserve_splits = Some(preserve_splits);
        let request = TruncateTableRequest { table_name: table.to_message(), preserve_splits, nonce_group, nonce };
        self.run("truncateTable", &request).await?;
        self.core.locator.table(table).clear();
        Ok(())
    }

    async fn run_of_table(&self, method: &'static str, table: &TableName) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        self.run(method, &TableRequest { table_name: table.to_message(), nonce_group, nonce }).await
    }

    async fn ask<M: Message + Default>(&self, method: &'static str, message: &impl Message) -> Result<M, Error> {
        self.call(method, message, Repeat::Read, self.deadline()).await
    }

    /// What a table looks like; `None` if there is none.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn describe_table(&self, table: &TableName) -> Result<Option<TableDescriptor>, Error> {
        let request = GetTableDescriptorsRequest {
            table_names: vec![table.to_message()],
            include_sys_tables: Some(true),
            ..GetTableDescriptorsRequest::default()
        };
        match self.ask::<TableDescriptors>("GetTableDescriptors", &request).await {
            Ok(found) => found.table_schema.into_iter().next().map(TableDescriptor::from_message).transpose(),
            Err(error) if error.is_exception("TableNotFoundException") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What all tables of a namespace look like.
    ///
    /// # Errors
    /// `NamespaceNotFoundException`.
    pub async fn describe_tables(&self, namespace: &str) -> Result<Vec<TableDescriptor>, Error> {
        let request = NamespaceRequest { namespace_name: namespace.to_owned() };
        let found: TableDescriptors = self.ask("ListTableDescriptorsByNamespace", &request).await?;
        found.table_schema.into_iter().map(TableDescriptor::from_message).collect()
    }

    /// The tables of a namespace.
    ///
    /// # Errors
    /// `NamespaceNotFoundException`.
    pub async fn list_tables(&self, namespace: &str) -> Result<Vec<TableName>, Error> {
        let request = NamespaceRequest { namespace_name: namespace.to_owned() };
        let found: TableNames = self.ask("ListTableNamesByNamespace", &request).await?;
        found.table_names.iter().map(TableName::from_message).collect()
    }

    /// Whether there is such a table.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn table_exists(&self, table: &TableName) -> Result<bool, Error> {
        Ok(self.describe_table(table).await?.is_some())
    }

    /// Whether a table is enabled, and not on its way to be otherwise.
    ///
    /// # Errors
    /// `TableNotFoundException`.
    pub async fn is_table_enabled(&self, table: &TableName) -> Result<bool, Error> {
        let request = GetTableStateRequest { table_name: table.to_message() };
        let found: GetTableStateResponse = self.ask("GetTableState", &request).await?;
        Ok(found.table_state.state == 0)
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `NamespaceExistException`.
    pub async fn create_namespace(&self, name: &str) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        let descriptor = NamespaceDescriptor { name: Bytes::copy_from_slice(name.as_bytes()), configuration: Vec::new() };
        self.run("CreateNamespace", &CreateNamespaceRequest { namespace_descriptor: descriptor, nonce_group, nonce }).await
    }

    /// Removes a namespace that has no tables.
    ///
    /// # Errors
    /// `NamespaceNotFoundException`; `ConstraintException` if it has tables.
    pub async fn delete_namespace(&self, name: &str) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonces();
        self.run("DeleteNamespace", &DeleteNamespaceRequest { namespace_name: name.to_owned(), nonce_group, nonce }).await
    }

    /// The namespaces.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn list_namespaces(&self) -> Result<Vec<String>, Error> {
        let found: ListNamespaceDescriptorsResponse = self.ask("ListNamespaceDescriptors", &Empty {}).await?;
        Ok(found.namespace_descriptor.iter().map(|namespace| String::from_utf8_lossy(&namespace.name).into_owned()).collect())
    }
}
