import pg from 'pg'

/**
 * Whether the database says that files of its data are missing or damaged (SQLSTATE 3D000, 58P01, 58030, XX001,
 * XX002), which no waiting mends.
 */
export function isDamage(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && /^(3D000|58P01|58030|XX00[12])$/.test(error.code ?? '')
}

/** Whether a server refused a connection for good, and not because it starts, stops or is full. */
export function isFinalRefusal(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && !/^(08|53|57)/.test(error.code ?? '')
}
