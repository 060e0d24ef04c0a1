// Package db holds the migrations of both databases inside the binary.
package db

import (
	"embed"
	"io/fs"
)

//go:embed postgres/migrations/*.sql
var postgres embed.FS

//go:embed clickhouse/migrations/*.sql
var clickhouse embed.FS

//go:embed postgres/fixtures/*.sql
var fixtures embed.FS

// Postgres returns the migrations of the control plane.
func Postgres() fs.FS { return sub(postgres, "postgres/migrations") }

// PostgresFixtures returns the rows that a test puts in after each migration,
// so that the next one meets data.
func PostgresFixtures() fs.FS { return sub(fixtures, "postgres/fixtures") }

// ClickHouse returns the templates of the data plane's migrations.
func ClickHouse() fs.FS { return sub(clickhouse, "clickhouse/migrations") }

func sub(f embed.FS, dir string) fs.FS {
	s, err := fs.Sub(f, dir)
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return s
}
