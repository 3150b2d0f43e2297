//! A number by each way to read it, for the fuzz target `decimal`.

use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::simd::{self, Level};

use super::{Number, Stored, WINDOW, read, read_any, read_within};

/// The usual way, with the instructions of this processor.
struct Within<'a, T>(&'a [u8; WINDOW], std::marker::PhantomData<T>);

impl<T: Stored> simd::Work for Within<'_, T> {
    type Output = Option<Number<T>>;

    #[inline(always)]
    fn run<L: Level>(self, level: L) -> Self::Output {
        read_within(level, self.0)
    }
}

fn each<T: Stored>(text: &[u8]) -> [Option<(f64, usize)>; 3] {
    let dispatched = || {
        let window = text.first_chunk()?;
        let found = simd::dispatch_avx2(Within::<T>(window, std::marker::PhantomData))?;
        (!found.may_go_on()).then_some(found)
    };
    let general = read_any::<T>(text, 0);
    [read(text, 0), dispatched().or(general), general]
        .map(|found| found.map(|number| (number.value.to_f64(), number.end)))
}

/// The longest finite number that `text` begins with and where it ends: as it is read anywhere,
/// with the instructions of this processor, and by the general way.
pub fn number_by_each_way(text: &[u8], precision: Precision) -> [Option<(f64, usize)>; 3] {
    match precision {
        Precision::F32 => each::<f32>(text),
        Precision::F64 => each::<f64>(text),
    }
}
