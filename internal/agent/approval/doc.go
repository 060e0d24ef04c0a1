// Package approval lets people decide on actions before agents take them: who may decide,
// how many must agree, who may not because they asked, for how long an agreement holds, and
// how often it is used. Requests for approvals are records of evidence.
package approval
