/** The schema keyword with a text for values that do not match the pattern, such as "must be six digits". */
export const PATTERN_FAULT = 'x-pattern-fault'

/**
 * A pattern with a readable error text. The text is part of the schema, so that it is available wherever the
 * schema is used.
 */
export function withPattern(pattern: string, fault: string) {
  return { pattern, [PATTERN_FAULT]: fault }
}
