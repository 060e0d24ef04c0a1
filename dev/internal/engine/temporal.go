package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"text/template"
	"time"
)

// What development shares with the compose file about Temporal.
const (
	temporalVersion   = "1.32.1"
	temporalPlugin    = "postgres12"
	temporalShards    = 512 // fixed for the life of the database
	temporalNamespace = "assay"
	temporalRetention = 72 * time.Hour
)

// developmentShards is what an engine of development has instead: its database
// is made anew, and each shard costs a start of the server time.
const developmentShards = 4

// temporalSchemas pairs each database with the schema that the tool carries for it.
var temporalSchemas = []struct{ Database, Schema string }{
	{"temporal", "postgresql/v12/temporal"},
	{"temporal_visibility", "postgresql/v12/visibility"},
}

func startTemporal(ctx context.Context, c *Checkout) error {
	var ended <-chan error
	if _, up := c.running("temporal"); !up {
		server, err := c.tool("temporal", "temporal-server")
		if err != nil {
			return err
		}
		if err := c.migrateTemporal(ctx); err != nil {
			return err
		}
		config, err := c.configureTemporal()
		if err != nil {
			return err
		}
		ended, err = c.spawn(process{
			engine: "temporal",
			dir:    c.path("temporal"),
			args:   []string{server, "--config-file", config, "--allow-no-auth", "start"},
		})
		if err != nil {
			return err
		}
	}
	err := c.await(ctx, "temporal", "its frontend", 60*time.Second, ended, func(ctx context.Context) error {
		_, err := c.temporalCall(ctx, http.MethodGet, "/api/v1/system-info", nil)
		return err
	})
	if err != nil {
		return err
	}
	err = c.await(ctx, "temporal", "its namespace", 60*time.Second, ended, c.registerNamespace)
	if err != nil {
		return err
	}
	return c.await(ctx, "temporal", "its task queues", 60*time.Second, ended, func(ctx context.Context) error {
		_, err := readyTemporal(ctx, c)
		return err
	})
}

// readyTemporal passes through the frontend, the namespace in its cache, the
// matching service and the database, which is the way of a worker's first poll.
func readyTemporal(ctx context.Context, c *Checkout) (string, error) {
	if err := answers(c.Ports.address("temporal")); err != nil {
		return "", err
	}
	namespace := "/api/v1/namespaces/" + temporalNamespace
	for _, path := range []string{namespace, namespace + "/task-queues/readiness", namespace + "/workflows?pageSize=1"} {
		if _, err := c.temporalCall(ctx, http.MethodGet, path, nil); err != nil {
			return "", err
		}
	}
	body, err := c.temporalCall(ctx, http.MethodGet, "/api/v1/cluster-info", nil)
	if err != nil {
		return "", err
	}
	var cluster struct{ ServerVersion string }
	err = json.Unmarshal(body, &cluster)
	return cluster.ServerVersion, err
}

// registerNamespace makes the namespace, which may be there already.
func (c *Checkout) registerNamespace(ctx context.Context) error {
	if _, err := c.temporalCall(ctx, http.MethodGet, "/api/v1/namespaces/"+temporalNamespace, nil); err == nil {
		return nil
	}
	_, err := c.temporalCall(ctx, http.MethodPost, "/api/v1/namespaces", map[string]any{
		"namespace":                        temporalNamespace,
		"description":                      "Assay",
		"workflowExecutionRetentionPeriod": fmt.Sprintf("%ds", int(temporalRetention.Seconds())),
	})
	return err
}

// temporalCall speaks the frontend's HTTP form of its API, which spares the
// module the whole tree of gRPC.
func (c *Checkout) temporalCall(ctx context.Context, method, path string, body any) ([]byte, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+loopback(c.Ports.temporal("http"))+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("temporal: %s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(answer))
	}
	return answer, err
}

// migrateTemporal brings both databases to the schema of the pinned release.
// The tool remembers in the database what it has applied.
func (c *Checkout) migrateTemporal(ctx context.Context) error {
	tool, err := c.tool("temporal", "temporal-sql")
	if err != nil {
		return err
	}
	c.say("temporal", "bringing its schema up to date")
	for _, s := range temporalSchemas {
		for _, command := range [][]string{
			{"setup-schema", "-v", "0.0"},
			{"update-schema", "--schema-name", s.Schema},
		} {
			cmd := exec.CommandContext(ctx, tool, command...)
			cmd.Env = append(os.Environ(),
				"SQL_PLUGIN="+temporalPlugin, "SQL_HOST=127.0.0.1", "SQL_PORT="+strconv.Itoa(c.Ports.on("postgres")),
				"SQL_USER="+temporalRole, "SQL_PASSWORD="+developmentPassword(temporalRole), "SQL_DATABASE="+s.Database)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("temporal schema of %s, %s: %w\n%s", s.Database, command[0], err, out)
			}
		}
	}
	return nil
}

// configureTemporal writes the server's configuration for this checkout's ports.
func (c *Checkout) configureTemporal() (string, error) {
	var text bytes.Buffer
	err := temporalConfig.Execute(&text, map[string]any{
		"Plugin": temporalPlugin, "Shards": developmentShards, "User": temporalRole, "Password": developmentPassword(temporalRole),
		"Database": c.Ports.address("postgres"), "Frontend": c.Ports.on("temporal"), "Port": c.Ports.temporal,
		"Dynamic": filepath.Join(c.Root, "deploy", "temporal", "dynamicconfig.yaml"),
	})
	if err != nil {
		return "", err
	}
	path := c.path("temporal", "config.yaml")
	return path, writeFile(path, text.String(), 0o644)
}

var temporalConfig = template.Must(template.New("temporal").Parse(`# Written at each start for this checkout's ports.
log: {stdout: true, level: warn}
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: {{.Shards}}
  datastores:
    default:
      sql: {pluginName: {{.Plugin}}, databaseName: temporal, connectAddr: "{{.Database}}", connectProtocol: tcp,
            user: {{.User}}, password: {{.Password}}, maxConns: 20, maxIdleConns: 20, maxConnLifetime: 1h}
    visibility:
      sql: {pluginName: {{.Plugin}}, databaseName: temporal_visibility, connectAddr: "{{.Database}}", connectProtocol: tcp,
            user: {{.User}}, password: {{.Password}}, maxConns: 10, maxIdleConns: 10, maxConnLifetime: 1h}
global:
  membership: {maxJoinDuration: 30s, broadcastAddress: 127.0.0.1}
services:
  frontend:
    rpc: {grpcPort: {{.Frontend}}, httpPort: {{call .Port "http"}}, membershipPort: {{call .Port "frontend-membership"}}, bindOnLocalHost: true}
  matching:
    rpc: {grpcPort: {{call .Port "matching"}}, membershipPort: {{call .Port "matching-membership"}}, bindOnLocalHost: true}
  history:
    rpc: {grpcPort: {{call .Port "history"}}, membershipPort: {{call .Port "history-membership"}}, bindOnLocalHost: true}
  worker:
    rpc: {grpcPort: {{call .Port "worker"}}, membershipPort: {{call .Port "worker-membership"}}, bindOnLocalHost: true}
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: {enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "127.0.0.1:{{.Frontend}}"}
dcRedirectionPolicy: {policy: noop}
dynamicConfigClient: {filepath: "{{.Dynamic}}", pollInterval: 10s}
`))
