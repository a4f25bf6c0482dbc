//! A slot beside immutable data, in which a caller caches what it derived from that data.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Room for one value of a type that only the caller knows: `ide` does not know the protocol whose JSON is cached here.
/// The value is dropped with the data it was made of.
#[derive(Default)]
pub struct Memo(Mutex<Option<Arc<dyn Any + Send + Sync>>>);

impl Memo {
    /// What was kept last, if it is of this type.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.lock().clone()?.downcast().ok()
    }

    /// Keeps a value in place of the last one.
    pub fn set<T: Any + Send + Sync>(&self, value: Arc<T>) {
        *self.lock() = Some(value);
    }

    /// A value is replaced as a whole, so a panic cannot leave half of one.
    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn Any + Send + Sync>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}
