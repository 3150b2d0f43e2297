//! The part of JSON that certificates use, read strictly.
//!
//! Only flags, natural numbers, texts, lists and objects without repeated names occur; a
//! `null`, a fraction or a negative number is refused where it stands, so that no two
//! readers of a certificate can understand it differently.

use crate::outcome::Malformed;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

pub(crate) enum Json {
    Flag(bool),
    Natural(u64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

type Result<T> = std::result::Result<T, Malformed>;

impl Json {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Json> {
        serde_json::from_slice(bytes).map_err(|error| Malformed::new(error.to_string()))
    }

    pub(crate) fn flag(&self) -> Result<bool> {
        match self {
            Json::Flag(value) => Ok(*value),
            _ => Err(Malformed::new("expected true or false")),
        }
    }

    pub(crate) fn natural(&self) -> Result<u64> {
        match self {
            Json::Natural(value) => Ok(*value),
            _ => Err(Malformed::new("expected a natural number")),
        }
    }

    pub(crate) fn text(&self) -> Result<&str> {
        match self {
            Json::Text(value) => Ok(value),
            _ => Err(Malformed::new("expected a text")),
        }
    }

    pub(crate) fn list(&self) -> Result<&[Json]> {
        match self {
            Json::List(items) => Ok(items),
            _ => Err(Malformed::new("expected a list")),
        }
    }

    pub(crate) fn object(&self) -> Result<&BTreeMap<String, Json>> {
        match self {
            Json::Object(fields) => Ok(fields),
            _ => Err(Malformed::new("expected an object")),
        }
    }

    /// Every item of a list, each complaint with its place.
    pub(crate) fn each<T>(&self, read: impl Fn(&Json) -> Result<T>) -> Result<Vec<T>> {
        let items = self.list()?.iter().enumerate();
        items
            .map(|(i, item)| read(item).map_err(|error| error.under(&format!("[{i}]"))))
            .collect()
    }

    pub(crate) fn fields(&self) -> Result<Fields<'_>> {
        Ok(Fields {
            object: self.object()?,
            known: Vec::new(),
        })
    }
}

/// The fields of an object, read by name; `finish` refuses those that nobody asked for.
pub(crate) struct Fields<'a> {
    object: &'a BTreeMap<String, Json>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Json) -> Result<T>,
    ) -> Result<Option<T>> {
        self.known.push(name);
        let field = self.object.get(name);
        field
            .map(|json| read(json).map_err(|error| error.under(name)))
            .transpose()
    }

    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Json) -> Result<T>,
    ) -> Result<T> {
        self.optional(name, read)?
            .ok_or_else(|| Malformed::new("is missing").under(name))
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self
            .object
            .keys()
            .find(|name| !self.known.contains(&name.as_str()))
        {
            None => Ok(()),
            Some(name) => Err(Malformed::new("has no meaning here").under(name)),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(source: D) -> std::result::Result<Json, D::Error> {
        source.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a natural number, a text, a list or an object")
    }

    fn visit_bool<E: Error>(self, value: bool) -> std::result::Result<Json, E> {
        Ok(Json::Flag(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(Json::Natural(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Json, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Json>()? {
            if let Some(_earlier) = fields.insert(name, value) {
                return Err(A::Error::custom("a name occurs twice in one object"));
            }
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn only_the_agreed_part_of_json_is_read() {
        assert!(Json::parse(br#"{"a": [1, "x", true, {}]}"#).is_ok());
        for bad in [
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": null}"#,
            r#"[-1]"#,
            r#"[-0]"#,
            r#"[1.0]"#,
            r#"[18446744073709551616]"#,
            r#"[NaN]"#,
            r#"["\ud800"]"#,
            r#"[1] x"#,
            "",
        ] {
            assert!(Json::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Json::parse(&[b'[', b'"', 0xff, b'"', b']']).is_err());
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
