/** The member of a schema that says in words what its pattern asks for, as "must be six digits". */
export const PATTERN_FAULT = 'x-pattern-fault'

/**
 * The pattern of a text, and what is said of one that does not fit it: people read no patterns.
 * The words go with the schema, wherever it is compiled or shown.
 */
export function inForm(pattern: string, fault: string) {
  return { pattern, [PATTERN_FAULT]: fault }
}
