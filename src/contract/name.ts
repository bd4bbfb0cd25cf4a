import { Type } from 'typebox'
import { withPattern } from './pattern.ts'

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'
/** As part of a name they have a meaning, for emoji and for right-to-left letters. */
const WITHOUT_WIDTH = '\\u200b-\\u200f\\u2060-\\u206f'

/** What people call a thing: a name in one line with something to read, since lists show little else. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  ...withPattern(
    `^(?![\\s${WITHOUT_WIDTH}]*$)[^${CONTROLS}]*$`,
    'must not be blank, nor contain control characters such as line breaks',
  ),
})
