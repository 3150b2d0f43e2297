//! What the crates of this workspace share; not for users, and without any promise.

pub use crate::data::{Lender, Owner, label_number};
pub use crate::file::{writable, write_atomic};
pub use crate::geometry::nearest_point::{NearestPoint, Walk, add_direction, unit_part_beside};
pub use crate::parallel::can_allocate;
pub use crate::{optimisations, parallel, random, simd};
