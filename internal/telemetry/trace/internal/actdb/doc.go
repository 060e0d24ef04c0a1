// Package actdb reads from spans what agents did to the world, and where they failed. It is
// a part of the domain's store in ClickHouse.
package actdb
