# The service of n2s: docker build -t n2s . && docker run --rm -p 8000:8000 -e N2S_TOKEN=... n2s
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/n2s \
    && /opt/n2s/bin/pip install --no-cache-dir --constraint constraints.txt '.[serve]'

FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 n2s
# The kernels are compiled on first use and kept beside the package: that folder is the user's.
COPY --from=build --chown=10001:10001 /opt/n2s /opt/n2s
USER 10001
WORKDIR /home/n2s
# Compiled while the image is made, so that a container is warm in seconds.
RUN ["/opt/n2s/bin/python", "-c", "from n2s.serve.work import warm_up; warm_up()"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s --retries=3 \
    CMD ["/opt/n2s/bin/python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/opt/n2s/bin/n2s", "serve", "--host", "0.0.0.0", "--port", "8000"]
