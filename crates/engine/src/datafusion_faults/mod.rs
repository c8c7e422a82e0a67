//! What DataFusion does otherwise than we need, a file each, and what we do about it.

pub(crate) mod effects;
pub(crate) mod filter_barrier;
pub(crate) mod forget_properties;
pub(crate) mod in_order;
pub(crate) mod restore_sorts;
pub(crate) mod skip_rows;
pub(crate) mod sliding;
