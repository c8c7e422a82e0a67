//! The store's promise kept on one machine, on RocksDB
