//! What a store on a cluster is opened with.

use std::sync::Arc;
use std::time::Duration;
use stoa_hbase_client::ClientConfig;
use stoa_store::TableId;
use stoa_store::clock::{Clock, SystemClock};

/// Options of [`crate::HbaseStore::open`].
#[derive(Clone, Debug)]
pub struct HbaseOptions {
    /// The cluster.
    pub client: ClientConfig,
    /// The namespace that the store has for itself; it is made if there is none. Letters, digits and `_`.
    pub namespace: String,
    /// Whether the namespace may be taken from another process that has it open and works; true if not set.
    pub take_over: bool,
    /// How long what was replaced or deleted is kept for reads of the past and for long ones, at least: a snapshot can be read for
    /// nearly half of it ([`HbaseOptions::horizon`]). An hour if not set. Tables keep what they were made with until they are altered.
    pub retention: Duration,
    /// The time of day: of commits, and of what expires.
    pub clock: Arc<dyn Clock>,
    /// How far the clock may be from the servers' when the store is opened; 30 s if not set.
    pub clock_difference: Duration,
    /// How long a commit waits for the cluster before its caller is told that it does not answer; a minute if not set.
    pub commit_timeout: Duration,
    /// For tests.
    #[doc(hidden)]
    pub faults: Faults,
}

/// Errors that tests plant to see that they are found, and circumstances that are rare.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub markers: Markers,
    /// Changes are held back from the tables for so long: reads see them from memory.
    pub apply_after: Duration,
    /// Nothing is applied to this table, as if its regions hung.
    pub hanging: Option<TableId>,
    /// The log is cut short from this size on.
    pub log_bytes: Option<usize>,
    /// Bulk loads from this size on put their rows before they end.
    pub load_bytes: Option<usize>,
    /// How long loads are remembered after their end.
    pub loads_kept: Option<Duration>,
}

/// When what a put replaces is said to have ended.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Markers {
    /// A millisecond before the put, where no snapshot can be.
    #[default]
    Before,
    /// Never: what was replaced stays for ever.
    LeftOut,
    /// Where a snapshot can be, which then sees neither.
    AtEvenTime,
}

impl HbaseOptions {
    /// With the defaults.
    #[must_use]
    pub fn new(client: ClientConfig, namespace: &str) -> HbaseOptions {
        HbaseOptions {
            client,
            namespace: namespace.to_owned(),
            take_over: true,
            retention: Duration::from_secs(3600),
            clock: Arc::new(SystemClock),
            clock_difference: Duration::from_secs(30),
            commit_timeout: Duration::from_secs(60),
            faults: Faults::default(),
        }
    }

    /// How old a snapshot may be to be read, where this much is kept: half of it, less a minute (or a tenth, if that is less) for clocks
    /// that differ. From there on it takes another half until compactions remove what the snapshot needs.
    #[must_use]
    pub fn horizon(retention: Duration) -> Duration {
        (retention / 2).saturating_sub(Duration::from_secs(60).min(retention / 10))
    }

    /// How much must be kept for snapshots of this age to be read: the opposite of [`HbaseOptions::horizon`].
    #[must_use]
    pub fn retention_for(horizon: Duration) -> Duration {
        // Where a tenth is less than a minute, the horizon is four tenths.
        let long = horizon.saturating_add(Duration::from_secs(60)).saturating_mul(2);
        if long >= Duration::from_secs(600) { long } else { horizon.saturating_mul(5) / 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::HbaseOptions;
    use std::time::Duration;

    #[test]
    fn the_horizon_leaves_room_for_clocks() {
        assert_eq!(HbaseOptions::horizon(Duration::from_secs(3600)), Duration::from_secs(29 * 60));
        assert_eq!(HbaseOptions::horizon(Duration::from_secs(20)), Duration::from_secs(8));
        for seconds in [1, 8, 100, 239, 240, 241, 1740, 2_592_000] {
            let horizon = Duration::from_secs(seconds);
            assert_eq!(HbaseOptions::horizon(HbaseOptions::retention_for(horizon)), horizon);
        }
    }
}
