//! A graph of operators, built one value at a time.

use crate::protobuf::Message;

/// A value of the graph, by its name.
pub(crate) type Value = String;

/// Element types, by the numbers the format gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Float = 1,
    Int64 = 7,
    String = 8,
    Double = 11,
}

/// The version of the format's main operators, and of those for classical models.
const OPERATORS: i64 = 17;
const CLASSICAL_OPERATORS: i64 = 3;
/// The version of the file's own structure that goes with them.
const STRUCTURE: i64 = 8;
/// The domain of operators for classical models.
pub(crate) const CLASSICAL: &str = "ai.onnx.ml";

/// What an attribute of a node holds.
pub(crate) enum Attribute<'a> {
    Int(i64),
    Text(&'a str),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Texts(Vec<&'a str>),
}

impl Attribute<'_> {
    fn message(self, name: &str) -> Message {
        // The numbers of fields and types are the format's.
        let message = Message::new().bytes(1, name);
        let (message, kind) = match self {
            Attribute::Int(i) => (message.int(3, i), 2),
            Attribute::Text(text) => (message.bytes(4, text), 3),
            Attribute::Floats(list) => (message.each(list, |m, x| m.float(7, x)), 6),
            Attribute::Ints(list) => (message.each(list, |m, x| m.int(8, x)), 7),
            Attribute::Texts(list) => (message.each(list, |m, x| m.bytes(9, x)), 8),
        };
        message.int(20, kind)
    }
}

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    facts: Vec<(&'static str, String)>,
    values: usize,
}

fn tensor(name: &str, element: Element, shape: &[usize]) -> Message {
    Message::new()
        .each(shape, |m, &n| m.int(1, n as i64))
        .int(2, element as i64)
        .bytes(8, name)
}

/// A value of `element` whose first dimension is the number of rows.
fn info(name: &str, element: Element, columns: Option<usize>) -> Message {
    let rows = Message::new().bytes(2, "rows");
    let mut shape = Message::new().message(1, rows);
    if let Some(columns) = columns {
        shape = shape.message(1, Message::new().int(1, columns as i64));
    }
    let kind = Message::new().int(1, element as i64).message(2, shape);
    Message::new()
        .bytes(1, name)
        .message(2, Message::new().message(1, kind))
}

impl Graph {
    fn name(&mut self, what: &str) -> Value {
        self.values += 1;
        format!("{what}_{}", self.values)
    }

    /// An input of so many columns.
    pub(crate) fn input(&mut self, name: &str, element: Element, columns: usize) -> Value {
        self.inputs.push(info(name, element, Some(columns)));
        name.to_owned()
    }

    /// Makes `value` an output called `name`; without `columns` it is a list.
    pub(crate) fn output(
        &mut self,
        name: &str,
        element: Element,
        columns: Option<usize>,
        value: &str,
    ) {
        self.outputs.push(info(name, element, columns));
        let node = Message::new()
            .bytes(1, value)
            .bytes(2, name)
            .bytes(4, "Identity");
        self.nodes.push(node);
    }

    /// Doubles that never change.
    pub(crate) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> Value {
        assert_eq!(shape.iter().product::<usize>(), values.len());
        let name = self.name("constant");
        let raw: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constants
            .push(tensor(&name, Element::Double, shape).bytes(9, raw));
        name
    }

    /// One double.
    pub(crate) fn double(&mut self, value: f64) -> Value {
        self.doubles(&[], &[value])
    }

    /// Whole numbers that never change.
    pub(crate) fn ints(&mut self, values: &[i64]) -> Value {
        let name = self.name("constant");
        let raw: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constants
            .push(tensor(&name, Element::Int64, &[values.len()]).bytes(9, raw));
        name
    }

    /// One whole number.
    pub(crate) fn int(&mut self, value: i64) -> Value {
        let name = self.name("constant");
        self.constants
            .push(tensor(&name, Element::Int64, &[]).bytes(9, value.to_le_bytes()));
        name
    }

    /// Texts that never change.
    pub(crate) fn texts(&mut self, values: &[&str]) -> Value {
        let name = self.name("constant");
        self.constants.push(
            tensor(&name, Element::String, &[values.len()])
                .each(values, |m, text| m.bytes(6, text)),
        );
        name
    }

    /// An operator of `domain` with this many results.
    pub(crate) fn apply_in<const N: usize>(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute<'_>)>,
    ) -> [Value; N] {
        let results: [Value; N] = std::array::from_fn(|_| self.name(operator));
        let node = Message::new()
            .each(inputs, |m, name| m.bytes(1, name))
            .each(&results, |m, name| m.bytes(2, name))
            .bytes(4, operator)
            .each(attributes, |m, (name, attribute)| {
                m.message(5, attribute.message(name))
            })
            .bytes(7, domain);
        self.nodes.push(node);
        results
    }

    /// A plain operator with attributes.
    pub(crate) fn apply_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute<'_>)>,
    ) -> Value {
        let [result] = self.apply_in("", operator, inputs, attributes);
        result
    }

    /// A plain operator.
    pub(crate) fn apply(&mut self, operator: &str, inputs: &[&str]) -> Value {
        self.apply_with(operator, inputs, Vec::new())
    }

    /// `value` as another type.
    pub(crate) fn cast(&mut self, value: &str, element: Element) -> Value {
        self.apply_with(
            "Cast",
            &[value],
            vec![("to", Attribute::Int(element as i64))],
        )
    }

    /// Something to be told about the model, under a key.
    pub(crate) fn fact(&mut self, key: &'static str, value: String) {
        self.facts.push((key, value));
    }

    /// The file's bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let graph = Message::new()
            .each(self.nodes, |m, node| m.message(1, node))
            .bytes(2, "rosenblatt")
            .each(self.constants, |m, constant| m.message(5, constant))
            .each(self.inputs, |m, input| m.message(11, input))
            .each(self.outputs, |m, output| m.message(12, output));
        let operators =
            |domain: &str, version: i64| Message::new().bytes(1, domain).int(2, version);
        Message::new()
            .int(1, STRUCTURE)
            .bytes(2, "rosenblatt")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .message(7, graph)
            .message(8, operators("", OPERATORS))
            .message(8, operators(CLASSICAL, CLASSICAL_OPERATORS))
            .each(self.facts, |m, (key, value)| {
                m.message(14, Message::new().bytes(1, key).bytes(2, value))
            })
            .into_bytes()
    }
}
