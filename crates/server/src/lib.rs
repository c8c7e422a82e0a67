//! The program stoa: wire protocol, shell, load
