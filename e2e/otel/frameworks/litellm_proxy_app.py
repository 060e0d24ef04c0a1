"""The proxy of LiteLLM, which exports by itself; the application asks it over HTTP
and exports nothing."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(__file__)
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
key = "sk-" + secrets.token_hex(32)
proxy = subprocess.Popen(
    [sys.executable, "-m", "litellm.proxy.proxy_cli", "--config", os.path.join(HERE, "litellm_proxy.yaml"), "--host", "127.0.0.1", "--port", str(port)],
    env={**os.environ, "LITELLM_MASTER_KEY": key}, stdout=sys.stderr,
)
for _ in range(600):
    if proxy.poll() is not None:
        sys.exit(f"the proxy ended with {proxy.returncode}")
    try:
        socket.create_connection(("127.0.0.1", port)).close()  # a request would be a trace
        break
    except ConnectionRefusedError:
        time.sleep(0.1)

messages = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "How is the weather in Lisbon?"}]
request = urllib.request.Request(
    f"http://127.0.0.1:{port}/v1/chat/completions",
    data=json.dumps({"model": "gpt-4o-mini", "messages": messages, "user": "user-2", "metadata": {"plan": "pro"}}).encode(),
    headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request, timeout=60) as response:
    response.read()
proxy.send_signal(signal.SIGINT)  # as Ctrl-C: it exports what is left
proxy.wait()
