// Package provider asks models and applications: it stores the credentials for
// them, calls them, and counts what an answer costs.
//
// Words: a key is the credential for a model provider, sealed so that it opens
// for one organization, one row and one destination. A model is asked with
// messages, an application with a JSON body of its own; a scorer is a service that
// scores answers. A failure is an answer that did not come; it says whether another
// attempt may succeed.
//
// A key is active, invalid (the provider refused it) or disabled (a person did).
package provider
