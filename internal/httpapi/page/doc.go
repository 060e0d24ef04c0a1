// Package page serves people: small pages below /app/, made on the server, without scripts.
//
// A cookie names a session, and counts below /app/ only: the interface below /api/ takes keys
// and never looks at cookies. A request that another site makes is refused.
package page
