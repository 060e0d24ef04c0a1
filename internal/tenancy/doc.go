// Package tenancy is who may use the platform: organizations and their API
// keys.
//
// Every row of every other domain belongs to one organization. A caller's
// organization comes from its key and from nowhere else.
package tenancy
