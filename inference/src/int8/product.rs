//! A node that multiplies with a constant matrix in; the nodes that do so with 8-bit integers out.
//!
//! They are those of onnxruntime's `quantize_dynamic`, which ONNX Runtime joins into one: what is multiplied is rounded to 8
//! bits with one scale, and each column of the matrix has a scale.

use super::proto::{Attribute, FLOAT, FLOAT16, Node};

/// A product of a node's input and a matrix.
#[derive(Clone, Copy)]
pub(super) struct Product<'a> {
    pub(super) input: &'a str,
    pub(super) weights: &'a str,
    pub(super) output: &'a str,
    /// What is added to the product.
    bias: Option<&'a str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    MatMul,
    Gemm {
        is_turned: bool,
    },
    /// Over one position.
    Conv,
}

/// The names of an int8 matrix and of its scales, and whether the product has 16 bits.
#[derive(Clone)]
pub(super) struct Weights {
    pub(super) values: String,
    pub(super) scales: String,
    pub(super) is_half: bool,
    /// The number of dimensions of the floats.
    pub(super) rank: usize,
}

/// The names of rounded numbers, of their scale and of what stands for 0.
#[derive(Clone)]
pub(super) struct Rows {
    values: String,
    scale: String,
    zero: String,
}

/// The nodes of a product, whose names begin with that of its output.
pub(super) struct Nodes<'a> {
    output: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Product<'a> {
    /// The product that a node computes, if its second input is a matrix. `None` for any other node.
    pub(super) fn of(node: &'a Node) -> Option<Self> {
        let int = |name: &str| node.find(name).map_or(0, |attribute| attribute.i);
        let float = |name: &str| node.find(name).map_or(1.0, |attribute| attribute.f);
        let ints = |name: &str, usual: i64| {
            node.find(name).is_none_or(|attribute| attribute.ints.iter().all(|&n| n == usual))
        };
        let is_one = |value: f32| (value - 1.0).abs() < f32::EPSILON;
        let kind = match node.op()? {
            "MatMul" => Kind::MatMul,
            "Gemm" if is_one(float("alpha")) && is_one(float("beta")) && int("transA") == 0 => {
                Kind::Gemm { is_turned: int("transB") != 0 }
            }
            "Conv"
                if node.find("group").is_none_or(|group| group.i == 1)
                    && ints("strides", 1)
                    && ints("pads", 0) =>
            {
                Kind::Conv
            }
            _ => return None,
        };
        let [input, weights, bias @ ..] = &node.input[..] else { return None };
        let [output] = &node.output[..] else { return None };
        let bias = bias.first().map(String::as_str).filter(|name| !name.is_empty());
        Some(Self { input, weights, output, bias, kind })
    }

    /// Whether the floats are [out, in].
    pub(super) fn is_turned(self) -> bool {
        self.kind == Kind::Conv || self.kind == (Kind::Gemm { is_turned: true })
    }

    /// Whether floats with so many dimensions can be a matrix of the product.
    pub(super) fn fits(self, rank: usize) -> bool {
        if self.kind == Kind::Conv { rank > 2 } else { rank == 2 }
    }
}

impl Weights {
    /// The names of the int8 matrix of the floats with this name.
    pub(super) fn named(floats: &str, is_turned: bool, is_half: bool, rank: usize) -> Self {
        let turned = if is_turned { ".turned" } else { "" };
        let name = |what: &str| format!("{floats}{turned}.{what}");
        Self { values: name("int8"), scales: name("scales"), is_half, rank }
    }
}

impl<'a> Nodes<'a> {
    pub(super) const fn new(output: &'a str) -> Self {
        Self { output, nodes: Vec::new() }
    }

    /// Rounds numbers. `is_half` says that they have 16 bits.
    pub(super) fn rows(&mut self, input: &str, is_half: bool) -> Rows {
        let input = if is_half { self.cast(input, FLOAT) } else { input.to_owned() };
        let [values, scale, zero] =
            ["rows", "scale", "zero"].map(|what| format!("{}.int8.{what}", self.output));
        self.nodes.push(Node::new("DynamicQuantizeLinear", &[&input], &[&values, &scale, &zero], None));
        Rows { values, scale, zero }
    }

    /// Multiplies rounded numbers with a matrix, and adds the bias.
    pub(super) fn product(&mut self, product: &Product<'_>, rows: &Rows, weights: &Weights) {
        let is_conv = product.kind == Kind::Conv;
        // The matrix multiplies the last dimension, a convolution the second.
        let rank = i64::try_from(weights.rank).unwrap_or(i64::MAX);
        let last: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
        let second: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        let turn = |perm| Some(Attribute::ints("perm", perm));
        let values =
            if is_conv { self.add("Transpose", &[&rows.values], turn(last)) } else { rows.values.clone() };
        let sums = self.add("MatMulInteger", &[&values, &weights.values, &rows.zero], None);
        let sums = self.cast(&sums, FLOAT);
        let scales = self.add("Mul", &[&rows.scale, &weights.scales], None);
        let mut result = self.add("Mul", &[&sums, &scales], None);
        if weights.is_half {
            result = self.cast(&result, FLOAT16);
        }
        if let Some(bias) = product.bias {
            result = self.add("Add", &[&result, bias], None);
        }
        if is_conv {
            self.add("Transpose", &[&result], turn(second));
        }
    }

    /// The nodes. The last one gives the product.
    pub(super) fn finish(mut self) -> Vec<Node> {
        if let Some(last) = self.nodes.last_mut() {
            last.output = vec![self.output.to_owned()];
        }
        self.nodes
    }

    fn cast(&mut self, input: &str, kind: i32) -> String {
        self.add("Cast", &[input], Some(Attribute::int("to", kind.into())))
    }

    /// Adds a node. Returns the name of its output.
    fn add(&mut self, op_type: &str, input: &[&str], attribute: Option<Attribute>) -> String {
        let output = format!("{}.int8.{}", self.output, self.nodes.len());
        self.nodes.push(Node::new(op_type, input, &[&output], attribute));
        output
    }
}
