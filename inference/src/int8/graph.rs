//! The bytes of a model in ONNX in; the bytes of the same model, whose products with constant matrices are computed with
//! 8-bit integers, out.
//!
//! `MatMul`, `Gemm` and convolutions over one position are exchanged, also in the branches of `If` and the bodies of loops.
//! Everything else stays as it is, byte for byte, except that numbers in other files move into the model.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use bytes::Bytes;
use prost::Message as _;

use super::{
    matrix::{self, Matrix},
    product::{Nodes, Product, Rows, Weights},
    proto::{FLOAT, FLOAT16, INT8, Node, Operators, Tensor, Value, number},
    wire::{Field, Malformed, fields, message},
};

/// The first version of ONNX's operators with `DynamicQuantizeLinear`.
const FIRST_VERSION: i64 = 11;
/// Graphs may be in the nodes of graphs this often.
const MAX_DEPTH: usize = 16;

/// The model `model`, with int8 matrices. `folder` has the files with the numbers that are not in the model itself. `None` if
/// the model has no product that can be exchanged.
pub(super) fn rewritten(model: &Bytes, folder: &Path) -> Result<Option<Bytes>, Malformed> {
    let mut model = fields(model)?;
    for operators in model.iter().filter(|field| field.number == number::OPERATORS) {
        let Operators { domain, version } = Operators::decode(operators.content())?;
        if domain.is_empty() && version < FIRST_VERSION {
            let what =
                format!("it uses version {version} of ONNX's operators, expected at least {FIRST_VERSION}");
            return Err(Malformed(what));
        }
    }
    let mut graphs = model.iter_mut().filter(|field| field.number == number::GRAPH);
    let (Some(graph), None) = (graphs.next(), graphs.next()) else {
        return Err(Malformed("expected one graph".to_owned()));
    };
    let mut rewriter = Rewriter { folder, scopes: Vec::new(), used: HashSet::new(), n_products: 0 };
    *graph = Field::new(number::GRAPH, &rewriter.graph(&graph.content())?)?;
    Ok((rewriter.n_products > 0).then(|| message(&model)))
}

/// The names of one graph, which the graphs in its nodes know too.
#[derive(Default)]
struct Scope {
    /// Its constants.
    tensors: HashMap<String, Tensor>,
    /// The names that stand for a constant of this graph or of one around it.
    constants: HashMap<String, Constant>,
    /// The int8 matrices of its constants, turned and not turned. `None` for a constant that is no matrix of floats.
    weights: HashMap<(String, bool), Option<Weights>>,
    /// What is multiplied with matrices, rounded.
    rows: HashMap<String, Rows>,
    /// The new constants.
    new: Vec<Tensor>,
}

/// What nodes make of a constant before it is multiplied.
#[derive(Clone)]
struct Constant {
    /// The constant's own name.
    tensor: String,
    is_turned: bool,
    is_half: bool,
}

struct Rewriter<'a> {
    folder: &'a Path,
    /// The graph that is rewritten, the graphs around it before.
    scopes: Vec<Scope>,
    /// The names that nodes and outputs need.
    used: HashSet<String>,
    n_products: usize,
}

impl Rewriter<'_> {
    fn graph(&mut self, graph: &Bytes) -> Result<Bytes, Malformed> {
        if self.scopes.len() == MAX_DEPTH {
            return Err(Malformed(format!("graphs are in each other more than {MAX_DEPTH} times")));
        }
        let graph = fields(graph)?;
        self.scopes.push(Scope::default());
        for tensor in initializers(&graph)? {
            self.add_constant(&tensor.name.clone(), tensor);
        }
        let mut rewritten = Vec::with_capacity(graph.len());
        for field in graph {
            match field.number {
                number::NODE => rewritten.extend(self.node(field)?),
                number::OUTPUT => {
                    self.used.insert(Value::decode(field.content())?.name);
                    rewritten.push(field);
                }
                _ => rewritten.push(field),
            }
        }
        let Some(scope) = self.scopes.pop() else { return Ok(message(&rewritten)) };
        let mut kept = Vec::with_capacity(rewritten.len());
        // A node that gives a constant comes before those that need it.
        for field in rewritten.into_iter().rev() {
            if field.number != number::NODE || self.is_needed(&scope, &field)? {
                kept.push(field);
            }
        }
        let mut whole = Vec::with_capacity(kept.len());
        for field in kept.into_iter().rev() {
            match field.number {
                number::INITIALIZER => whole.extend(self.initializer(&scope, field)?),
                _ => whole.push(field),
            }
        }
        for tensor in scope.new {
            whole.push(Field::new(number::INITIALIZER, &tensor.encode_to_vec())?);
        }
        Ok(message(&whole))
    }

    /// The nodes that take a node's place.
    fn node(&mut self, field: Field) -> Result<Vec<Field>, Malformed> {
        let node = Node::decode(field.content())?;
        if let Some(nodes) = self.product(&node)? {
            self.n_products += 1;
            self.used.extend(nodes.iter().flat_map(|node| node.input.iter().cloned()));
            return nodes.iter().map(|node| Field::new(number::NODE, &node.encode_to_vec())).collect();
        }
        if !self.gives_constant(&node) {
            self.used.extend(node.input);
        }
        Ok(vec![self.with_subgraphs(field)?])
    }

    /// Whether a node gives a constant, or one turned or with other numbers. Such a node is needed only if its output is.
    fn gives_constant(&mut self, node: &Node) -> bool {
        let [output] = &node.output[..] else { return false };
        if let (Some("Constant"), Some(value)) = (node.op(), node.find("value")) {
            if let Some(tensor) = value.t.clone() {
                self.add_constant(output, tensor);
            }
            return value.t.is_some();
        }
        let [input] = &node.input[..] else { return false };
        let Some(mut constant) = self.constant(input).cloned() else { return false };
        match node.op() {
            Some("Identity") => (),
            Some("Transpose") if self.rank(&constant) == Some(2) && node.turns() => {
                constant.is_turned = !constant.is_turned;
            }
            Some("Cast") => match node.find("to").map(|to| to.i) {
                Some(to) if to == i64::from(FLOAT) => constant.is_half = false,
                Some(to) if to == i64::from(FLOAT16) => constant.is_half = true,
                _ => return false,
            },
            _ => return false,
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.constants.insert(output.clone(), constant);
        }
        true
    }

    /// Adds a constant of the graph that is rewritten.
    fn add_constant(&mut self, name: &str, tensor: Tensor) {
        let is_half = tensor.data_type == FLOAT16;
        let constant = Constant { tensor: name.to_owned(), is_turned: false, is_half };
        if let Some(scope) = self.scopes.last_mut() {
            scope.constants.insert(name.to_owned(), constant);
            scope.tensors.insert(name.to_owned(), tensor);
        }
    }

    /// The constant that a name stands for.
    fn constant(&self, name: &str) -> Option<&Constant> {
        self.scopes.iter().rev().find_map(|scope| scope.constants.get(name))
    }

    /// The number of dimensions of a constant.
    fn rank(&self, constant: &Constant) -> Option<usize> {
        let tensor = self.scopes.iter().rev().find_map(|scope| scope.tensors.get(&constant.tensor))?;
        Some(tensor.dims.len())
    }

    /// Rewrites the graphs in a node's attributes.
    fn with_subgraphs(&mut self, node: Field) -> Result<Field, Malformed> {
        let is_graph = |field: &Field| matches!(field.number, number::SUBGRAPH | number::SUBGRAPHS);
        let mut has_any = false;
        let mut rewritten = fields(&node.content())?;
        for attribute in rewritten.iter_mut().filter(|field| field.number == number::ATTRIBUTE) {
            let mut parts = fields(&attribute.content())?;
            if !parts.iter().any(is_graph) {
                continue;
            }
            for part in parts.iter_mut().filter(|part| is_graph(part)) {
                *part = Field::new(part.number, &self.graph(&part.content())?)?;
            }
            *attribute = Field::new(number::ATTRIBUTE, &message(&parts))?;
            has_any = true;
        }
        if has_any { Field::new(number::NODE, &message(&rewritten)) } else { Ok(node) }
    }

    /// The nodes that compute a product with an int8 matrix. `None` for another node.
    fn product(&mut self, node: &Node) -> Result<Option<Vec<Node>>, Malformed> {
        let Some(product) = Product::of(node) else { return Ok(None) };
        let Some(weights) = self.weights(product)? else { return Ok(None) };
        let Some(scope) = self.scopes.last_mut() else { return Ok(None) };
        let mut nodes = Nodes::new(product.output);
        let rows = match scope.rows.get(product.input) {
            Some(rows) => rows.clone(),
            None => nodes.rows(product.input, weights.is_half),
        };
        nodes.product(&product, &rows, &weights);
        scope.rows.insert(product.input.to_owned(), rows);
        Ok(Some(nodes.finish()))
    }

    /// The int8 matrix of a product, which is beside the floats.
    fn weights(&mut self, product: Product<'_>) -> Result<Option<Weights>, Malformed> {
        let Some(Constant { tensor: name, is_turned, is_half }) = self.constant(product.weights).cloned()
        else {
            return Ok(None);
        };
        let has_it = |scope: &&mut Scope| scope.tensors.contains_key(&name);
        let Some(scope) = self.scopes.iter_mut().rev().find(has_it) else { return Ok(None) };
        let is_turned = is_turned != product.is_turned();
        let key = (name.clone(), is_turned);
        if let Some(known) = scope.weights.get(&key) {
            return Ok(known.clone().map(|weights| Weights { is_half, ..weights }));
        }
        let Some(tensor) = scope.tensors.get(&name) else { return Ok(None) };
        let rank = tensor.dims.len();
        let matrix = if product.fits(rank) { Matrix::of(tensor, is_turned, self.folder)? } else { None };
        let weights = matrix.map(|matrix| {
            let weights = Weights::named(&name, is_turned, is_half, rank);
            let rounded = matrix.int8();
            let values = rounded.values.iter().map(|value| value.to_le_bytes()[0]).collect();
            let scales = rounded.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
            let [n_in, n_out] = matrix.dims();
            scope.new.push(Tensor::new(weights.values.clone(), INT8, &[n_in, n_out], values));
            scope.new.push(Tensor::new(weights.scales.clone(), FLOAT, &[n_out], scales));
            weights
        });
        scope.weights.insert(key, weights.clone());
        Ok(weights)
    }

    /// Whether anything needs a node's output. Only nodes that give constants can lose their purpose.
    fn is_needed(&mut self, scope: &Scope, node: &Field) -> Result<bool, Malformed> {
        let node = Node::decode(node.content())?;
        let [output] = &node.output[..] else { return Ok(true) };
        if !scope.constants.contains_key(output) {
            return Ok(true);
        }
        let is_needed = self.used.contains(output);
        if is_needed {
            self.used.extend(node.input);
        }
        Ok(is_needed)
    }

    /// A constant with its numbers in it, also if they were in another file. `None` if only products needed it that are
    /// exchanged now.
    fn initializer(&self, scope: &Scope, field: Field) -> Result<Option<Field>, Malformed> {
        let tensor = Tensor::decode(field.content())?;
        let has_weights =
            |is_turned| scope.weights.get(&(tensor.name.clone(), is_turned)).is_some_and(Option::is_some);
        if !self.used.contains(&tensor.name) && (has_weights(false) || has_weights(true)) {
            return Ok(None);
        }
        if !tensor.is_external() {
            return Ok(Some(field));
        }
        let mut parts = fields(&field.content())?;
        parts.retain(|part| !matches!(part.number, number::EXTERNAL_DATA | number::DATA_LOCATION));
        parts.push(Field::new(number::RAW_DATA, &matrix::external(&tensor, self.folder)?)?);
        Field::new(number::INITIALIZER, &message(&parts)).map(Some)
    }
}

/// The initializers of a graph that no input may replace.
fn initializers(graph: &[Field]) -> Result<Vec<Tensor>, Malformed> {
    let of = |number: u64| graph.iter().filter(move |field| field.number == number).map(Field::content);
    let inputs = of(number::INPUT).map(|input| Ok(Value::decode(input)?.name));
    let inputs = inputs.collect::<Result<HashSet<String>, Malformed>>()?;
    let mut tensors = Vec::new();
    for initializer in of(number::INITIALIZER) {
        let tensor = Tensor::decode(initializer)?;
        if !inputs.contains(&tensor.name) {
            tensors.push(tensor);
        }
    }
    Ok(tensors)
}
