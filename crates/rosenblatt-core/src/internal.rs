//! What only the other crates of this workspace use; it may change at any time.

pub use crate::geometry::nearest_point::{NearestPoint, Walk, add_direction, unit_part_beside};
pub use crate::parallel::can_allocate;
