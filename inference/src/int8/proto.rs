//! The messages of ONNX that are looked at or written anew, with the fields that this takes and their numbers in
//! `onnx.proto`.

use bytes::Bytes;
use prost::Message;

/// Numbers of fields whose bytes are kept or exchanged.
pub(super) mod number {
    /// Of a model: its graph, and the sets of operators that it uses.
    pub(in crate::int8) const GRAPH: u64 = 7;
    pub(in crate::int8) const OPERATORS: u64 = 8;
    /// Of a graph.
    pub(in crate::int8) const NODE: u64 = 1;
    pub(in crate::int8) const INITIALIZER: u64 = 5;
    pub(in crate::int8) const INPUT: u64 = 11;
    pub(in crate::int8) const OUTPUT: u64 = 12;
    /// Of a node.
    pub(in crate::int8) const ATTRIBUTE: u64 = 5;
    /// Of an attribute: a graph, and one of several.
    pub(in crate::int8) const SUBGRAPH: u64 = 6;
    pub(in crate::int8) const SUBGRAPHS: u64 = 11;
    /// Of a tensor.
    pub(in crate::int8) const RAW_DATA: u64 = 9;
    pub(in crate::int8) const EXTERNAL_DATA: u64 = 13;
    pub(in crate::int8) const DATA_LOCATION: u64 = 14;
}

/// Types of a tensor's numbers.
pub(super) const FLOAT: i32 = 1;
pub(super) const INT8: i32 = 3;
pub(super) const FLOAT16: i32 = 10;

/// Types of an attribute's value.
const INT: i32 = 2;
const INTS: i32 = 7;

/// The `data_location` of numbers that are in another file.
const EXTERNAL: i32 = 1;

/// `OperatorSetIdProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Operators {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

/// `ValueInfoProto`: an input or output of a graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

/// `NodeProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

/// `AttributeProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, tag = "2")]
    pub(super) f: f32,
    #[prost(int64, tag = "3")]
    pub(super) i: i64,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<Tensor>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(int32, tag = "20")]
    pub(super) kind: i32,
}

/// `TensorProto`. Its bytes are a part of the message's, without a copy.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub(super) raw_data: Bytes,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<Entry>,
    #[prost(int32, tag = "14")]
    pub(super) data_location: i32,
}

/// `StringStringEntryProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

impl Node {
    /// A node of ONNX's own operators.
    pub(super) fn new(op_type: &str, input: &[&str], output: &[&str], attribute: Option<Attribute>) -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            input: names(input),
            output: names(output),
            op_type: op_type.to_owned(),
            attribute: attribute.into_iter().collect(),
            domain: String::new(),
        }
    }

    /// The operator's name, if it is one of ONNX's own.
    pub(super) fn op(&self) -> Option<&str> {
        ["", "ai.onnx"].contains(&&*self.domain).then_some(&*self.op_type)
    }

    /// Whether it exchanges the two dimensions of a matrix, as a `Transpose`.
    pub(super) fn turns(&self) -> bool {
        self.find("perm").is_none_or(|perm| perm.ints == [1, 0])
    }

    /// The attribute with this name.
    pub(super) fn find(&self, name: &str) -> Option<&Attribute> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }
}

impl Attribute {
    /// An attribute of a whole number.
    pub(super) fn int(name: &str, i: i64) -> Self {
        Self { name: name.to_owned(), i, kind: INT, ..Self::default() }
    }

    /// An attribute of several.
    pub(super) fn ints(name: &str, ints: Vec<i64>) -> Self {
        Self { name: name.to_owned(), ints, kind: INTS, ..Self::default() }
    }
}

impl Tensor {
    /// A tensor of these numbers, in little-endian order.
    pub(super) fn new(name: String, data_type: i32, dims: &[usize], raw_data: Vec<u8>) -> Self {
        let dims = dims.iter().map(|&n| crate::cast::dimension(n)).collect();
        Self { name, data_type, dims, raw_data: raw_data.into(), ..Self::default() }
    }

    /// Whether its numbers are in another file.
    pub(super) const fn is_external(&self) -> bool {
        self.data_location == EXTERNAL
    }
}
