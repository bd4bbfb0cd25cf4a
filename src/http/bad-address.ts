import type { FastifyReply } from 'fastify'
import { plainPage } from './plain-page.ts'

const PAGE = plainPage({
  title: 'This address is not valid',
  text: 'A percent sign in it is not followed by two hexadecimal digits, or the digits are not UTF-8. It may have been cut off where it was copied.',
  link: '<a href="/">Open the console</a>',
})

/** A 400 for a person: no route is reached, so that the console cannot say it. */
export function sendBadAddressPage(reply: FastifyReply): void {
  void reply
    .code(400)
    .headers({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
    })
    .send(PAGE)
}
