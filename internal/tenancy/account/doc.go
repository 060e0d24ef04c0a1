// Package account is how people come in and who they are.
//
// A person exists by an act of their own: they accept an invitation with a password, and from then
// on sign in. What they do in that session, and with the keys that they make in it, is done by a
// person. Nobody else can do that for them: the password and the session are seen by them alone.
//
// Words: an invitation is a link that lets a member in once; an account is how a member signs in,
// and belongs to one membership: a person in two organizations has two. A session is a browser in
// which somebody has signed in.
package account
