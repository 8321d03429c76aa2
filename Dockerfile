# The image of muster. To build it: docker build -t REGISTRY/muster:0.1.0 .
FROM debian:bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev cmake ninja-build pkg-config \
        libmicrohttpd-dev libjansson-dev libcurl4-openssl-dev libyaml-dev libnghttp2-dev libssl-dev libcmocka-dev
WORKDIR /src
COPY . .
RUN cmake --preset release && cmake --build --preset release --target muster

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libmicrohttpd12 libjansson4 libcurl4 libyaml-0-2 libnghttp2-14 libssl3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/release/muster /usr/local/bin/muster
USER 65532:65532
ENTRYPOINT ["muster"]
CMD ["serve"]
