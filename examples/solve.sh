#!/bin/sh
# Solve a file over HTTP: n2s serve, then: sh examples/solve.sh [FILE] [ADDRESS]
set -eu
file=${1:-examples/city.csv}
address=${2:-http://127.0.0.1:8000}
# With a token: add  --header "Authorization: Bearer $N2S_TOKEN"
curl --fail-with-body --silent --show-error --data-binary "@$file" \
  "$address/v1/solve?variant=lifo&seconds=2&name=$(basename "$file")"
