package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// tool is a program that runs beside the proof. It ends with it, however the
// proof ends.
type tool struct {
	cmd  *exec.Cmd
	life io.Closer
}

// startTool starts a pinned program. A shell ends it when its input ends.
func (s *system) startTool(name string, env []string, args ...string) error {
	path, err := devenv.Tool(name)
	if err != nil {
		return err
	}
	t := &tool{cmd: exec.Command("sh", append([]string{"-c", `"$@" & cat >/dev/null; kill -9 $!; wait`, "sh", path}, args...)...)}
	t.cmd.Env = append(os.Environ(), env...)
	log, err := os.Create(filepath.Join(s.State, name+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	t.cmd.Stdout, t.cmd.Stderr = log, log
	if t.life, err = t.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	s.OnStop(t.stop)
	return nil
}

func (t *tool) stop() error {
	err := t.life.Close()
	_ = t.cmd.Wait() // a shell whose child was killed says so
	return err
}

// toxiproxy spoils connections on demand.
type toxiproxy struct {
	api     string
	proxies map[string]*proxy
}

// proxy is one connection that can be spoiled.
type proxy struct {
	of           *toxiproxy
	name, listen string
}

func (s *system) startToxiproxy(ctx context.Context) (*toxiproxy, error) {
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}
	host, port := address[:len("127.0.0.1")], address[len("127.0.0.1:"):]
	if err := s.startTool("toxiproxy-server", []string{"LOG_LEVEL=error"}, "-host", host, "-port", port); err != nil {
		return nil, err
	}
	t := &toxiproxy{api: "http://" + address, proxies: map[string]*proxy{}}
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if err = t.call(ctx, http.MethodGet, "/version", nil); err == nil {
			return t, nil
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("toxiproxy-server does not answer: %w", err)
		}
	}
}

func (t *toxiproxy) call(ctx context.Context, method, path string, in any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.MarshalWrite(&body, in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, t.api+path, &body)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("toxiproxy: %s %s: %s %s", method, path, res.Status, text)
	}
	return nil
}

// add makes a proxy to an address.
func (t *toxiproxy) add(ctx context.Context, name, upstream string) error {
	listen, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	t.proxies[name] = &proxy{of: t, name: name, listen: listen}
	return t.call(ctx, http.MethodPost, "/proxies", map[string]any{"name": name, "listen": listen, "upstream": upstream, "enabled": true})
}

// cut breaks every connection and refuses new ones.
func (p *proxy) cut(ctx context.Context) error { return p.enable(ctx, false) }

// mend lets connections through again.
func (p *proxy) mend(ctx context.Context) error { return p.enable(ctx, true) }

func (p *proxy) enable(ctx context.Context, enabled bool) error {
	return p.of.call(ctx, http.MethodPost, "/proxies/"+p.name, map[string]any{"enabled": enabled})
}

// toxic is a way to spoil connections; stream is the direction, upstream being
// towards the server.
type toxic struct {
	kind, stream string
	attributes   map[string]any
}

func (p *proxy) spoil(ctx context.Context, t toxic) error {
	return p.of.call(ctx, http.MethodPost, "/proxies/"+p.name+"/toxics", map[string]any{
		"name": "toxic", "type": t.kind, "stream": t.stream, "attributes": t.attributes,
	})
}

func (p *proxy) heal(ctx context.Context) error {
	return p.of.call(ctx, http.MethodDelete, "/proxies/"+p.name+"/toxics/toxic", nil)
}
