//! The program `stoa`: PostgreSQL's wire protocol ([`wire`]), and the commands of the command line ([`command`]).

mod allocator;
pub mod command;
pub mod wire;
