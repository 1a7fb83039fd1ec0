# One image for all commands: `akhar api`, `akhar worker`, `akhar migrate`, `akhar keys …`.
FROM rust:1-bookworm AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN scripts/setup.sh library && scripts/setup.sh weights && cargo build --release --locked --package akhar

FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends curl libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /akhar akhar
COPY --from=build /src/target/release/akhar /usr/local/bin/akhar
COPY --from=build /src/.cache/onnxruntime/libonnxruntime.so /akhar/libonnxruntime.so
COPY --from=build /src/models/*.toml /akhar/models/
COPY --from=build /src/models/weights /akhar/models/weights
COPY --from=build /src/models/fetched /akhar/models/fetched
RUN mkdir /akhar/models/pulled && chown akhar /akhar/models/pulled
WORKDIR /akhar
USER akhar
ENV AKHAR_ORT_DYLIB=/akhar/libonnxruntime.so AKHAR_MODELS_DIR=/akhar/models AKHAR_LISTEN=0.0.0.0:8080 AKHAR_LOG_FORMAT=json
EXPOSE 8080
ENTRYPOINT ["akhar"]
CMD ["api"]
