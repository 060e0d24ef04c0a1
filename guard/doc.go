// Package guard lets an agent ask before it acts, and records what it did.
//
//	g := guard.New(guard.Config{Runtime: "refund-agent"})
//	tool := guard.Tool{Connector: "payments", Name: "refund", Verify: payments.Look}
//	receipt, err := guard.Do(ctx, g, tool, args,
//		func(ctx context.Context, key string) (Receipt, error) {
//			return payments.Refund(ctx, args, payments.IdempotencyKey(key))
//		})
//
// Do evaluates the policies, waits for an approval if one is required, records the side
// effect before it is sent, calls the tool, records the outcome, and verifies the effect with
// Tool.Verify if it is set. A call of class none or read is not recorded or verified, unless a
// policy has the obligation record_side_effect or verify_side_effect. Do fails closed: if the
// platform denies the action, does not answer within Config.Timeout, or cannot record the side
// effect, the tool is not called.
package guard
