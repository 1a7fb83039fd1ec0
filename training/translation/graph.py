"""The network as two ONNX graphs with the names and shapes of Optimum's M2M100 export.

Matrices are kept in half precision and cast when a session is made, so the files are small and what runs is exact
single precision: the answer of a text does not depend on what else is in its batch. `decoder_model_merged` has one `If`:
with `use_cache_branch` the past is what was given and `present.*.encoder.*` come back empty, (0, heads, 1, width);
without, the past is ignored and the encoder's keys and values are computed.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .tokeniser import PAD

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
FAR = np.float32(-1e9)
B, S, T, P, PT = (
    "batch_size",
    "encoder_sequence_length",
    "decoder_sequence_length",
    "past_decoder_sequence_length",
    "past_decoder_sequence_length + decoder_sequence_length",
)


class Graph:
    """Nodes and initialisers under construction; a call of `op` gives the name of its (first) result."""

    def __init__(self, net, prefix=""):
        self.weights, self.config = {k: v.detach().numpy() for k, v in net.state_dict().items()}, net.config
        self.heads = net.config.encoder_attention_heads
        self.width = net.config.d_model // self.heads
        self.nodes, self.initialisers, self.count, self.prefix = [], {}, 0, prefix

    def op(self, kind, *inputs, outputs=None, n=1, **attributes):
        self.count += 1
        outputs = outputs or [f"{self.prefix}{kind.lower()}_{self.count}{f'_{k}' if k else ''}" for k in range(n)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs[0]

    def keep(self, name, array):
        self.initialisers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def constant(self, value, dtype=np.int64):
        array = np.asarray(value, dtype)
        name = f"c_{array.dtype}_{'x'.join(map(str, array.shape))}_{'_'.join(map(str, array.ravel()))}"
        return self.keep(name, array)

    def half(self, name, array):
        """A matrix kept in half precision, used in single."""
        return self.op("Cast", self.keep(name, array.astype(np.float16)), to=FLOAT)

    def linear(self, x, name):
        """X [..., in] -> [..., out]."""
        product = self.op("MatMul", x, self.half(f"{name}.weight_t", self.weights[f"{name}.weight"].T))
        return self.op("Add", product, self.keep(f"{name}.bias", self.weights[f"{name}.bias"]))

    def norm(self, x, name):
        scale, bias = (self.keep(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)

    def headed(self, x):
        """[B, L, D] -> [B, heads, L, width]."""
        x = self.op("Reshape", x, self.constant([0, 0, self.heads, self.width]))
        return self.op("Transpose", x, perm=[0, 2, 1, 3])

    def query(self, x, name):
        return self.headed(
            self.op("Mul", self.linear(x, f"{name}.q_proj"), self.constant(self.width**-0.5, np.float32))
        )

    def attention(self, q, k, v, bias, name):
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        shares = self.op("Softmax", self.op("Add", scores, bias), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, v), perm=[0, 2, 1, 3])
        return self.linear(
            self.op("Reshape", mixed, self.constant([0, 0, self.heads * self.width])), f"{name}.out_proj"
        )

    def forward(self, x, name):
        """The feed-forward half of a layer, residual included."""
        inner = self.op("Relu", self.linear(self.norm(x, f"{name}.final_layer_norm"), f"{name}.fc1"))
        return self.op("Add", x, self.linear(inner, f"{name}.fc2"))

    def embedded(self, ids, past=None):
        """Scaled pieces and sinusoidal positions; a position counts the tokens that are no padding."""
        table = self.keep("model.shared.weight", self.weights["model.shared.weight"].astype(np.float16))
        x = self.op("Cast", self.op("Gather", table, ids), to=FLOAT)
        x = self.op("Mul", x, self.constant(self.config.d_model**0.5, np.float32))
        real = self.op("Cast", self.op("Not", self.op("Equal", ids, self.constant(PAD))), to=INT)
        place = self.op("CumSum", real, self.constant(1))
        place = self.op("Add", place, past) if past else place
        place = self.op("Add", self.op("Mul", place, real), self.constant(PAD))
        return self.op("Add", x, self.op("Gather", "positions", place))

    def masked(self, mask):
        """[B, S] of ones and zeros -> [B, 1, 1, S] to add to scores."""
        gone = self.op("Sub", self.constant(1, np.float32), self.op("Cast", mask, to=FLOAT))
        return self.op("Unsqueeze", self.op("Mul", gone, self.constant(FAR, np.float32)), self.constant([1, 2]))

    def causal(self, past, length):
        """[T, P + T] to add to scores: no token sees a later one."""
        whole = self.op("Add", past, length)
        ahead = self.op(
            "Greater",
            self.op("Unsqueeze", self.op("Range", self.constant(0), whole, self.constant(1)), self.constant([0])),
            self.op("Unsqueeze", self.op("Range", past, whole, self.constant(1)), self.constant([1])),
        )
        return self.op("Mul", self.op("Cast", ahead, to=FLOAT), self.constant(FAR, np.float32))

    def size(self, x, axis):
        return self.op("Gather", self.op("Shape", x), self.constant(axis))


def values(*described):
    return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in described]


def model(graph, name, inputs, outputs):
    made = helper.make_graph(graph.nodes, name, inputs, outputs, list(graph.initialisers.values()))
    whole = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], producer_name="akhar")
    whole.ir_version = 9
    onnx.checker.check_model(whole, full_check=True)
    return whole


def encoder(net):
    """`input_ids`, `attention_mask` i64 [B, S] -> `last_hidden_state` f32 [B, S, D]."""
    g = Graph(net)
    g.keep("positions", net.model.encoder.embed_positions.weights.numpy())
    x, bias = g.embedded("input_ids"), g.masked("attention_mask")
    for k in range(net.config.encoder_layers):
        name = f"model.encoder.layers.{k}"
        inner = g.norm(x, f"{name}.self_attn_layer_norm")
        keys, told = (g.headed(g.linear(inner, f"{name}.self_attn.{part}_proj")) for part in "kv")
        x = g.op("Add", x, g.attention(g.query(inner, f"{name}.self_attn"), keys, told, bias, f"{name}.self_attn"))
        x = g.forward(x, name)
    g.op("Identity", g.norm(x, "model.encoder.layer_norm"), outputs=["last_hidden_state"])
    return model(
        g,
        "encoder",
        values(("input_ids", INT, [B, S]), ("attention_mask", INT, [B, S])),
        values(("last_hidden_state", FLOAT, [B, S, net.config.d_model])),
    )


def branches(g, layers):
    """The `If`: its outputs, a layer: own past key and value, cross key and value, and those two to give back."""
    names = [
        f"{part}.{k}"
        for k in range(layers)
        for part in ("past.key", "past.value", "cross.key", "cross.value", "given.key", "given.value")
    ]

    def branch(made, prefix, results):
        for result, name in zip(results, names):
            made.op("Identity", result, outputs=[f"{prefix}{name}"])
        g.initialisers.update(made.initialisers)
        shapes = [
            [B, g.heads, None, g.width] if "given" not in name else [None, g.heads, None, g.width] for name in names
        ]
        return helper.make_graph(
            made.nodes,
            prefix.rstrip("."),
            [],
            values(*((f"{prefix}{name}", FLOAT, shape) for name, shape in zip(names, shapes))),
        )

    cached, first = Graph.__new__(Graph), Graph.__new__(Graph)
    for made, prefix in ((cached, "cached."), (first, "first.")):
        made.__dict__ = {**g.__dict__, "nodes": [], "initialisers": {}, "count": 0, "prefix": prefix}
    empty = cached.op("ConstantOfShape", cached.constant([0, g.heads, 1, g.width]))
    kept = [
        result
        for k in range(layers)
        for result in (
            *(f"past_key_values.{k}.{whose}.{part}" for whose in ("decoder", "encoder") for part in ("key", "value")),
            empty,
            empty,
        )
    ]
    batch = first.op("Slice", first.op("Shape", "input_ids"), first.constant([0]), first.constant([1]))
    none = first.op("ConstantOfShape", first.op("Concat", batch, first.constant([g.heads, 0, g.width]), axis=0))
    fresh = []
    for k in range(layers):
        cross = [
            first.headed(first.linear("encoder_hidden_states", f"model.decoder.layers.{k}.encoder_attn.{part}_proj"))
            for part in "kv"
        ]
        fresh += [none, none, *cross, *cross]
    g.op(
        "If",
        "use_cache_branch",
        outputs=names,
        then_branch=branch(cached, "cached.", kept),
        else_branch=branch(first, "first.", fresh),
    )


def decoder(net):
    """`decoder_model_merged`: see the module's first lines; `logits` f32 [B, T, V]."""
    g, layers = Graph(net), net.config.decoder_layers
    g.keep("positions", net.model.decoder.embed_positions.weights.numpy())
    branches(g, layers)
    past, length = g.size("past.key.0", 2), g.size("input_ids", 1)
    x = g.embedded("input_ids", past)
    own, other = g.causal(past, length), g.masked("encoder_attention_mask")
    for k in range(layers):
        name = f"model.decoder.layers.{k}"
        inner = g.norm(x, f"{name}.self_attn_layer_norm")
        both = [
            g.op(
                "Concat",
                f"past.{part}.{k}",
                g.headed(g.linear(inner, f"{name}.self_attn.{part[0]}_proj")),
                axis=2,
                outputs=[f"present.{k}.decoder.{part}"],
            )
            for part in ("key", "value")
        ]
        x = g.op("Add", x, g.attention(g.query(inner, f"{name}.self_attn"), *both, own, f"{name}.self_attn"))
        inner = g.norm(x, f"{name}.encoder_attn_layer_norm")
        x = g.op(
            "Add",
            x,
            g.attention(
                g.query(inner, f"{name}.encoder_attn"),
                f"cross.key.{k}",
                f"cross.value.{k}",
                other,
                f"{name}.encoder_attn",
            ),
        )
        x = g.forward(x, name)
        for part in ("key", "value"):
            g.op("Identity", f"given.{part}.{k}", outputs=[f"present.{k}.encoder.{part}"])
    pieces = g.op("Transpose", g.op("Cast", "model.shared.weight", to=FLOAT), perm=[1, 0])
    g.op("MatMul", g.norm(x, "model.decoder.layer_norm"), pieces, outputs=["logits"])
    shape = {"decoder": P, "encoder": S}
    pasts = [
        (f"past_key_values.{k}.{whose}.{part}", FLOAT, [B, g.heads, shape[whose], g.width])
        for k in range(layers)
        for whose in ("decoder", "encoder")
        for part in ("key", "value")
    ]
    presents = [
        (
            name.replace("past_key_values", "present"),
            FLOAT,
            [B, g.heads, PT, g.width] if ".decoder." in name else [None, g.heads, None, g.width],
        )
        for name, _, _ in pasts
    ]
    inputs = values(
        ("encoder_attention_mask", INT, [B, S]),
        ("input_ids", INT, [B, T]),
        ("encoder_hidden_states", FLOAT, [B, S, net.config.d_model]),
        *pasts,
        ("use_cache_branch", BOOL, [1]),
    )
    return model(g, "decoder", inputs, values(("logits", FLOAT, [B, T, net.config.vocab_size]), *presents))
