# One image for all commands: `akhar api`, `akhar worker`, `akhar migrate`, `akhar keys …`. It runs as a user without
# rights and needs no writable file system; only pulled models need a volume at /akhar/models/pulled.

# ONNX Runtime's library and the weights that are not in git, both checked by hash. A stage of their own, so that a change
# of the source does not download them again.
FROM rust:1-bookworm AS fetched
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY scripts scripts
RUN mkdir models && scripts/setup.sh library && scripts/setup.sh weights

FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package akhar && strip --strip-debug target/release/akhar

FROM debian:bookworm-slim
# curl is for the health checks of compose and Kubernetes.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends curl libstdc++6 && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 akhar \
    && useradd --system --uid 10001 --gid akhar --home-dir /akhar --shell /usr/sbin/nologin akhar \
    && install --directory --owner akhar --group akhar /akhar/models/pulled
WORKDIR /akhar
COPY --from=build /src/models/*.toml models/
COPY --from=build /src/models/weights models/weights
COPY --from=fetched /src/models/fetched models/fetched
COPY --from=fetched /src/.cache/onnxruntime/libonnxruntime.so ./
COPY --from=build /src/target/release/akhar /usr/local/bin/akhar
# A number, because Kubernetes' runAsNonRoot cannot check a name.
USER 10001:10001
ENV AKHAR_ORT_DYLIB=/akhar/libonnxruntime.so AKHAR_MODELS_DIR=/akhar/models AKHAR_LISTEN=0.0.0.0:8080 AKHAR_LOG_FORMAT=json
EXPOSE 8080
ENTRYPOINT ["akhar"]
CMD ["api"]
