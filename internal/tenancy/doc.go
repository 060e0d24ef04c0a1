// Package tenancy is who may use the platform: organizations, their members and
// API keys, what they may do and how much, and what they did.
//
// Every row of every other domain belongs to one organization. A caller's
// organization comes from its key and from nowhere else.
//
// An organization is active, suspended or deleting:
//
//	from       event    to         who
//	active     suspend  suspended  operator
//	suspended  resume   active     operator
//	active     delete   deleting   owner
//	suspended  delete   deleting   owner
//
// Words: a service key belongs to the organization; a personal key belongs to
// a member, whose role narrows it at every use. A plan says how many requests
// an hour a key may make. Erasure removes everything of a deleted organization
// and leaves a certificate.
package tenancy
