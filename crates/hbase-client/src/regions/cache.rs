//! The regions of a table that are known, by their first keys.
//!
//! Invariant: those that are remembered do not overlap: a region that comes removes what it overlaps. So a key has one region or none.

use super::Region;
use crate::names::ServerName;
use bytes::Bytes;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct TableRegions {
    by_start: RwLock<BTreeMap<Bytes, Arc<Region>>>,
}

impl TableRegions {
    /// The region that holds a key.
    pub(crate) fn of(&self, key: &[u8]) -> Option<Arc<Region>> {
        let regions = self.by_start.read();
        let (_, region) = regions.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()?;
        region.holds(key).then(|| Arc::clone(region))
    }

    /// The region that holds the keys right below one; an empty one stands for the end of the table.
    pub(crate) fn below(&self, key: &[u8]) -> Option<Arc<Region>> {
        let regions = self.by_start.read();
        let end = if key.is_empty() { Bound::Unbounded } else { Bound::Excluded(key) };
        let (_, region) = regions.range::<[u8], _>((Bound::Unbounded, end)).next_back()?;
        region.holds_below(key).then(|| Arc::clone(region))
    }

    /// Remembers a region instead of all that overlap it, unless one of these is newer.
    pub(crate) fn put(&self, region: Region) -> Arc<Region> {
        let region = Arc::new(region);
        let mut regions = self.by_start.write();
        let mut overlapped: Vec<Bytes> = Vec::new();
        if let Some((start, before)) = regions.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(&*region.start))).next_back()
            && (before.end.is_empty() || before.end > region.start)
        {
            overlapped.push(start.clone());
        }
        for (start, other) in regions.range::<[u8], _>((Bound::Included(&*region.start), Bound::Unbounded)) {
            if !region.end.is_empty() && *start >= region.end {
                break;
            }
            if other.name == region.name && other.sequence > region.sequence {
                return Arc::clone(other);
            }
            overlapped.push(start.clone());
        }
        for start in overlapped {
            regions.remove(&start);
        }
        regions.insert(region.start.clone(), Arc::clone(&region));
        region
    }

    /// Forgets a region, if it is still remembered on this server.
    pub(crate) fn forget(&self, region: &Region) {
        let mut regions = self.by_start.write();
        if regions.get(&region.start).is_some_and(|known| known.name == region.name && known.server == region.server) {
            regions.remove(&region.start);
        }
    }

    /// Remembers that a region went elsewhere, if it is still remembered where it was. One such hint is followed: servers keep telling where
    /// a region went long after it is gone, and in a circle if it went in one. After the second hbase:meta is asked.
    pub(crate) fn moved(&self, region: &Region, to: &ServerName) {
        let mut regions = self.by_start.write();
        let Some(known) = regions.get_mut(&region.start) else { return };
        if known.name != region.name || known.server != region.server {
            return;
        }
        if known.hinted {
            regions.remove(&region.start);
        } else {
            *known = Arc::new(Region { server: to.clone(), hinted: true, ..Region::clone(known) });
        }
    }

    /// Forgets all that was on a server.
    pub(crate) fn forget_server(&self, server: &ServerName) {
        self.by_start.write().retain(|_, region| !region.server.same_address(server));
    }

    pub(crate) fn clear(&self) {
        self.by_start.write().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Region, TableRegions};
    use crate::names::ServerName;
    use bytes::Bytes;

    fn region(start: &'static str, end: &'static str, id: u64) -> Region {
        Region {
            name: Bytes::from(format!("t,{start},{id}.")),
            table: "t".parse().unwrap(),
            id,
            start: start.into(),
            end: end.into(),
            server: ServerName::at("h", 1),
            sequence: id,
            hinted: false,
        }
    }

    fn name(cache: &TableRegions, key: &str) -> Option<u64> {
        cache.of(key.as_bytes()).map(|region| region.id)
    }

    #[test]
    fn a_key_has_the_region_around_it() {
        let cache = TableRegions::default();
        assert_eq!(name(&cache, "a"), None);
        cache.put(region("", "c", 1));
        cache.put(region("c", "f", 2));
        cache.put(region("k", "", 3));
        for (key, id) in [("", Some(1)), ("b", Some(1)), ("c", Some(2)), ("f", None), ("k", Some(3)), ("z", Some(3))] {
            assert_eq!(name(&cache, key), id, "{key}");
        }
        for (key, id) in [("", Some(3)), ("c", Some(1)), ("d", Some(2)), ("f", Some(2)), ("g", None), ("k", None), ("l", Some(3))] {
            assert_eq!(cache.below(key.as_bytes()).map(|region| region.id), id, "{key}");
        }
    }

    #[test]
    fn a_region_removes_what_it_overlaps() {
        let cache = TableRegions::default();
        cache.put(region("", "c", 1));
        cache.put(region("c", "f", 2));
        cache.put(region("f", "", 3));
        // A merge of the first two, then a split of the result at another key.
        cache.put(region("", "f", 4));
        assert_eq!((name(&cache, "a"), name(&cache, "d"), name(&cache, "g")), (Some(4), Some(4), Some(3)));
        cache.put(region("b", "f", 5));
        assert_eq!((name(&cache, "a"), name(&cache, "d")), (None, Some(5)));
        cache.put(region("", "", 6));
        assert_eq!((name(&cache, "a"), name(&cache, "d"), name(&cache, "g")), (Some(6), Some(6), Some(6)));
    }

    #[test]
    fn what_is_newer_stays() {
        let cache = TableRegions::default();
        cache.put(Region { sequence: 9, server: ServerName::at("new", 1), ..region("", "", 1) });
        cache.put(region("", "", 1));
        assert_eq!(&*cache.of(b"a").unwrap().server.host, "new");
        // Forgetting the old place does not forget the new one.
        cache.forget(&region("", "", 1));
        assert!(cache.of(b"a").is_some());
        cache.moved(&Region { server: ServerName::at("new", 1), ..region("", "", 1) }, &ServerName::at("newer", 2));
        assert_eq!(&*cache.of(b"a").unwrap().server.host, "newer");
        cache.forget_server(&ServerName::at("newer", 2));
        assert!(cache.of(b"a").is_none());
    }

    #[test]
    fn servers_that_send_in_a_circle_are_not_believed() {
        let cache = TableRegions::default();
        let first = cache.put(region("", "", 1));
        cache.moved(&first, &ServerName::at("second", 2));
        let second = cache.of(b"a").unwrap();
        assert_eq!(&*second.server.host, "second");
        cache.moved(&second, &first.server);
        assert!(cache.of(b"a").is_none());
    }
}
