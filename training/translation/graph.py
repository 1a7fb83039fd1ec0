"""The network as two ONNX graphs with the names and shapes of Optimum's M2M100 export.

Matrices are int8, and their products are products of 8-bit integers. What is multiplied with a matrix is scaled row by
row, so that the answer of a text does not depend on what else is in its batch. All else is in single precision.

The decoder is Optimum's `decoder_model_merged`, with one `If`. With `use_cache_branch` it takes the past as given, and
`present.*.encoder.*` come back empty, [0, heads, 1, width]. Without, it ignores the past and computes the keys and
values of the encoder's output. The formulas are those of `transformers.models.m2m_100`.
"""

import copy
from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper
from quantising import OPSET, SCALES, int8, product, rounded
from transformers import M2M100ForConditionalGeneration

from .tokeniser import PAD

Port = tuple[str, int, list[str | int | None]]
"""An input or output: name, element type, shape; None is a size that is not stated."""

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
FAR = np.float32(-1e9)
SHARED = "model.shared.weight"
B, S, T, P, PT = (
    "batch_size",
    "encoder_sequence_length",
    "decoder_sequence_length",
    "past_decoder_sequence_length",
    "past_decoder_sequence_length + decoder_sequence_length",
)


class Graph:
    """The nodes and initialisers of a graph of this network. Methods that add nodes return the name of the result."""

    def __init__(self, net: M2M100ForConditionalGeneration) -> None:
        self.weights: dict[str, NDArray[np.float32]] = {k: v.detach().numpy() for k, v in net.state_dict().items()}
        self.config = net.config
        self.heads = net.config.encoder_attention_heads
        self.width = net.config.d_model // self.heads
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, TensorProto] = {}
        self.rows: dict[str, tuple[str, str]] = {}
        self.count, self.prefix = 0, ""

    def branch(self, prefix: str) -> "Graph":
        """An empty graph of the same network, for a branch of an `If`; `prefix` begins the names of its results."""
        made = copy.copy(self)
        made.nodes, made.initialisers, made.rows, made.count, made.prefix = [], {}, {}, 0, prefix
        return made

    def op(
        self,
        kind: str,
        *inputs: str,
        outputs: Sequence[str] | None = None,
        **attributes: float | str | Sequence[int] | GraphProto,
    ) -> str:
        """Adds a node of an ONNX operator; the result is its first output. Outputs without a name are numbered."""
        self.count += 1
        outputs = outputs or [f"{self.prefix}{kind.lower()}_{self.count}"]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs[0]

    def initialiser(self, name: str, array: NDArray[np.generic]) -> str:
        """Adds an initialiser."""
        self.initialisers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.int64) -> str:
        """Adds a constant, once for each value."""
        array = np.asarray(value, dtype)
        name = f"c_{array.dtype}_{'x'.join(map(str, array.shape))}_{'_'.join(map(str, array.ravel()))}"
        return self.initialiser(name, array)

    def product(self, x: str, width: int, values: str, scales: str) -> str:
        """The product with an int8 matrix, which has a scale for each column: [B, L, `width`] to [B, L, out]."""
        if x not in self.rows:
            self.rows[x] = rounded(self, x, width)
        return product(self, self.rows[x], values, scales)

    def linear(self, x: str, name: str) -> str:
        """The linear layer `name`: [..., in] to [..., out]."""
        values, scales = int8(self.weights[f"{name}.weight"].T)
        matrix = f"{name}.weight_t"
        names = self.initialiser(matrix, values), self.initialiser(matrix + SCALES, scales)
        product = self.product(x, len(values), *names)
        return self.op("Add", product, self.initialiser(f"{name}.bias", self.weights[f"{name}.bias"]))

    def norm(self, x: str, name: str) -> str:
        """The layer norm `name` over the last axis."""
        scale, bias = (
            self.initialiser(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")
        )
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)

    def split_heads(self, x: str) -> str:
        """Split into heads: [B, L, D] to [B, heads, L, width]."""
        x = self.op("Reshape", x, self.constant([0, 0, self.heads, self.width]))
        return self.op("Transpose", x, perm=[0, 2, 1, 3])

    def query(self, x: str, name: str) -> str:
        """The scaled queries of the attention `name`: [B, L, D] to [B, heads, L, width]."""
        return self.split_heads(
            self.op("Mul", self.linear(x, f"{name}.q_proj"), self.constant(self.width**-0.5, np.float32))
        )

    def attention(self, q: str, k: str, v: str, bias: str, name: str) -> str:
        """Scaled dot-product attention (Vaswani and others, 2017): [B, heads, L, width] to [B, L, D].

        `bias` is added to the scores.
        """
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        shares = self.op("Softmax", self.op("Add", scores, bias), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, v), perm=[0, 2, 1, 3])
        return self.linear(
            self.op("Reshape", mixed, self.constant([0, 0, self.heads * self.width])), f"{name}.out_proj"
        )

    def feed_forward(self, x: str, name: str) -> str:
        """The feed-forward half of the layer `name`, with norm and residual."""
        inner = self.op("Relu", self.linear(self.norm(x, f"{name}.final_layer_norm"), f"{name}.fc1"))
        return self.op("Add", x, self.linear(inner, f"{name}.fc2"))

    def embedding(self, ids: str, past: str | None = None) -> str:
        """Scaled embeddings plus sinusoidal positions: i64 [B, L] to [B, L, D].

        A position counts the tokens that are no padding, from `past` on.
        """
        values, factors = int8(self.weights[SHARED].T)
        table, scales = self.initialiser(SHARED, values.T), self.initialiser(SHARED + SCALES, factors)
        x = self.op("Cast", self.op("Gather", table, ids), to=FLOAT)
        x = self.op("Mul", x, self.op("Unsqueeze", self.op("Gather", scales, ids), self.constant([-1])))
        x = self.op("Mul", x, self.constant(self.config.d_model**0.5, np.float32))
        real = self.op("Cast", self.op("Not", self.op("Equal", ids, self.constant(PAD))), to=INT)
        place = self.op("CumSum", real, self.constant(1))
        place = self.op("Add", place, past) if past else place
        place = self.op("Add", self.op("Mul", place, real), self.constant(PAD))
        return self.op("Add", x, self.op("Gather", "positions", place))

    def padding_bias(self, mask: str) -> str:
        """A bias for scores of a mask of ones and zeros: i64 [B, S] to [B, 1, 1, S]."""
        gone = self.op("Sub", self.constant(1, np.float32), self.op("Cast", mask, to=FLOAT))
        return self.op("Unsqueeze", self.op("Mul", gone, self.constant(FAR, np.float32)), self.constant([1, 2]))

    def causal_bias(self, past: str, length: str) -> str:
        """A bias for scores, [T, P + T], that hides later tokens; `past` is P, `length` is T."""
        whole = self.op("Add", past, length)
        ahead = self.op(
            "Greater",
            self.op("Unsqueeze", self.op("Range", self.constant(0), whole, self.constant(1)), self.constant([0])),
            self.op("Unsqueeze", self.op("Range", past, whole, self.constant(1)), self.constant([1])),
        )
        return self.op("Mul", self.op("Cast", ahead, to=FLOAT), self.constant(FAR, np.float32))

    def size(self, x: str, axis: int) -> str:
        """The size of `x` along an axis, i64 []."""
        return self.op("Gather", self.op("Shape", x), self.constant(axis))


def ports(*described: Port) -> list[ValueInfoProto]:
    """Ports as ONNX describes them."""
    return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in described]


def model(graph: Graph, name: str, inputs: list[ValueInfoProto], outputs: list[ValueInfoProto]) -> ModelProto:
    """The graph as a checked model, with an operator of ONNX Runtime's own."""
    made = helper.make_graph(graph.nodes, name, inputs, outputs, list(graph.initialisers.values()))
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    whole = helper.make_model(made, opset_imports=opsets, producer_name="akhar")
    whole.ir_version = 10
    onnx.checker.check_model(whole, full_check=True)
    return whole


def encoder(net: M2M100ForConditionalGeneration) -> ModelProto:
    """The encoder: `input_ids` and `attention_mask` i64 [B, S] to `last_hidden_state` f32 [B, S, D]."""
    g = Graph(net)
    g.initialiser("positions", net.model.encoder.embed_positions.weights.numpy())
    x, bias = g.embedding("input_ids"), g.padding_bias("attention_mask")
    for k in range(net.config.encoder_layers):
        name = f"model.encoder.layers.{k}"
        inner = g.norm(x, f"{name}.self_attn_layer_norm")
        keys, values = (g.split_heads(g.linear(inner, f"{name}.self_attn.{part}_proj")) for part in "kv")
        x = g.op("Add", x, g.attention(g.query(inner, f"{name}.self_attn"), keys, values, bias, f"{name}.self_attn"))
        x = g.feed_forward(x, name)
    g.op("Identity", g.norm(x, "model.encoder.layer_norm"), outputs=["last_hidden_state"])
    return model(
        g,
        "encoder",
        ports(("input_ids", INT, [B, S]), ("attention_mask", INT, [B, S])),
        ports(("last_hidden_state", FLOAT, [B, S, net.config.d_model])),
    )


def branches(g: Graph, layers: int) -> None:
    """Adds the `If`.

    Its outputs for layer k: `past.key.k` and `past.value.k` of the decoder's own attention, `cross.key.k` and
    `cross.value.k` of the attention to the encoder's output, and `given.key.k` and `given.value.k`, which the decoder
    returns as `present.k.encoder.*`.
    """
    names = [
        f"{part}.{k}"
        for k in range(layers)
        for part in ("past.key", "past.value", "cross.key", "cross.value", "given.key", "given.value")
    ]

    def closed(made: Graph, results: Sequence[str]) -> GraphProto:
        for result, name in zip(results, names, strict=True):
            made.op("Identity", result, outputs=[f"{made.prefix}{name}"])
        # Initialisers of the outer graph are visible in its branches.
        g.initialisers.update(made.initialisers)
        outputs: list[Port] = [
            (f"{made.prefix}{name}", FLOAT, [None if "given" in name else B, g.heads, None, g.width]) for name in names
        ]
        return helper.make_graph(made.nodes, made.prefix.rstrip("."), [], ports(*outputs))

    cached, first = g.branch("cached."), g.branch("first.")
    empty = cached.op("ConstantOfShape", cached.constant([0, g.heads, 1, g.width]))
    kept = []
    for k in range(layers):
        kept += [f"past_key_values.{k}.{whose}.{part}" for whose in ("decoder", "encoder") for part in ("key", "value")]
        kept += [empty, empty]
    batch = first.op("Slice", first.op("Shape", "input_ids"), first.constant([0]), first.constant([1]))
    none = first.op("ConstantOfShape", first.op("Concat", batch, first.constant([g.heads, 0, g.width]), axis=0))
    fresh = []
    for k in range(layers):
        cross = [
            first.split_heads(
                first.linear("encoder_hidden_states", f"model.decoder.layers.{k}.encoder_attn.{part}_proj")
            )
            for part in "kv"
        ]
        fresh += [none, none, *cross, *cross]
    then_branch, else_branch = closed(cached, kept), closed(first, fresh)
    g.op("If", "use_cache_branch", outputs=names, then_branch=then_branch, else_branch=else_branch)


def decoder_layer(g: Graph, x: str, k: int, own: str, other: str) -> str:
    """Layer k of the decoder: [B, T, D] to [B, T, D].

    `own` and `other` are the biases of the attention to the decoder's own tokens and to the encoder's output.
    """
    name = f"model.decoder.layers.{k}"
    inner = g.norm(x, f"{name}.self_attn_layer_norm")
    keys, values = (
        g.op(
            "Concat",
            f"past.{part}.{k}",
            g.split_heads(g.linear(inner, f"{name}.self_attn.{part[0]}_proj")),
            axis=2,
            outputs=[f"present.{k}.decoder.{part}"],
        )
        for part in ("key", "value")
    )
    x = g.op("Add", x, g.attention(g.query(inner, f"{name}.self_attn"), keys, values, own, f"{name}.self_attn"))
    inner = g.norm(x, f"{name}.encoder_attn_layer_norm")
    query, cross = g.query(inner, f"{name}.encoder_attn"), (f"cross.key.{k}", f"cross.value.{k}")
    x = g.op("Add", x, g.attention(query, *cross, other, f"{name}.encoder_attn"))
    return g.feed_forward(x, name)


def decoder_ports(g: Graph, layers: int) -> tuple[list[ValueInfoProto], list[ValueInfoProto]]:
    """Inputs and outputs of the decoder, in Optimum's order."""
    shape = {"decoder": P, "encoder": S}
    pasts: list[Port] = [
        (f"past_key_values.{k}.{whose}.{part}", FLOAT, [B, g.heads, shape[whose], g.width])
        for k in range(layers)
        for whose in ("decoder", "encoder")
        for part in ("key", "value")
    ]
    presents: list[Port] = [
        (
            name.replace("past_key_values", "present"),
            FLOAT,
            [B, g.heads, PT, g.width] if ".decoder." in name else [None, g.heads, None, g.width],
        )
        for name, _, _ in pasts
    ]
    inputs = ports(
        ("encoder_attention_mask", INT, [B, S]),
        ("input_ids", INT, [B, T]),
        ("encoder_hidden_states", FLOAT, [B, S, g.config.d_model]),
        *pasts,
        ("use_cache_branch", BOOL, [1]),
    )
    return inputs, ports(("logits", FLOAT, [B, T, g.config.vocab_size]), *presents)


def decoder(net: M2M100ForConditionalGeneration) -> ModelProto:
    """`decoder_model_merged`, as the module's docstring says; `logits` are f32 [B, T, vocabulary]."""
    g, layers = Graph(net), net.config.decoder_layers
    g.initialiser("positions", net.model.decoder.embed_positions.weights.numpy())
    branches(g, layers)
    past, length = g.size("past.key.0", 2), g.size("input_ids", 1)
    x = g.embedding("input_ids", past)
    own, other = g.causal_bias(past, length), g.padding_bias("encoder_attention_mask")
    for k in range(layers):
        x = decoder_layer(g, x, k, own, other)
        for part in ("key", "value"):
            g.op("Identity", f"given.{part}.{k}", outputs=[f"present.{k}.encoder.{part}"])
    pieces, width = g.op("Transpose", SHARED, perm=[1, 0]), net.config.d_model
    logits = g.product(g.norm(x, "model.decoder.layer_norm"), width, pieces, SHARED + SCALES)
    g.op("Identity", logits, outputs=["logits"])
    return model(g, "decoder", *decoder_ports(g, layers))
