// Command schema writes db/postgres/schema.sql: the schema that the migrations
// produce, which query generation and reviewers read. It needs a running
// PostgreSQL (ASSAY_POSTGRES_OWNER_URL) and pg_dump.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
)

const target = "db/postgres/schema.sql"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	owner := os.Getenv("ASSAY_POSTGRES_OWNER_URL")
	if owner == "" {
		return fmt.Errorf("ASSAY_POSTGRES_OWNER_URL is not set: run `make up` and use `make gen`")
	}
	admin, err := pgx.Connect(ctx, owner)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close(ctx) }()

	name := fmt.Sprintf("assay_schema_%d", os.Getpid())
	quoted := pgx.Identifier{name}.Sanitize()
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+quoted); err != nil {
		return err
	}
	defer func() { _, _ = admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted+" WITH (FORCE)") }()

	u, err := url.Parse(owner)
	if err != nil {
		return err
	}
	u.Path = "/" + name
	if _, err := postgres.Migrate(ctx, postgres.Config{OwnerURL: secret.Text(u.String())}, db.Postgres()); err != nil {
		return err
	}
	dump := exec.CommandContext(ctx, "pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--exclude-table=goose_db_version*", "--dbname="+u.String())
	dump.Stderr = os.Stderr
	out, err := dump.Output()
	if err != nil {
		return fmt.Errorf("pg_dump: %w", err)
	}
	return os.WriteFile(target, clean(out), 0o644)
}

// noise are the lines of a dump that differ between machines or say nothing.
var noise = regexp.MustCompile(`(?m)^(--.*|SET .*|SELECT pg_catalog.*|\\(un)?restrict .*)\n`)

func clean(dump []byte) []byte {
	out := noise.ReplaceAll(dump, nil)
	out = regexp.MustCompile(`\n{3,}`).ReplaceAll(out, []byte("\n\n"))
	header := "-- The schema that the migrations produce. Written by `make gen`; do not edit.\n\n"
	return append([]byte(header), append(bytes.TrimSpace(out), '\n')...)
}
