//! The program `stoa`: PostgreSQL's wire protocol ([`wire`]), who is let in ([`access`]), and the commands of the command line ([`command`]).

pub mod access;
pub mod allocator;
pub mod command;
pub mod wire;
