import type { Faults } from '../../contract/faults.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { TemplateKind } from './draft-kind.ts'
import type { TemplateOtp } from './spec.ts'

const FIELDS = [
  'otpType',
  'addSecurityRecommendation',
  'codeExpirationMinutes',
  'otpButtonText',
  'packageName',
  'signatureHash',
  'zeroTapTermsAccepted',
] as const

/** An Android package name: at least two parts, separated by dots. */
const PACKAGE = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/
/** The first eleven characters of a base 64 hash, as Android's SMS retriever cuts it. */
const SIGNATURE = /^[A-Za-z0-9+/]{11}$/

/** Reads the fields of an official OTP template; null for all other templates. */
export function readOtp(body: TemplateCreate, kind: TemplateKind, faults: Faults): TemplateOtp | null {
  if (!kind.official || body.subType !== 'otp') {
    for (const field of FIELDS) {
      // A flag that is false may be given.
      const asked = body[field] !== undefined && body[field] !== false
      if (asked) faults.add(field, 'is only for official templates of sub type otp')
    }
    return null
  }
  const type = body.otpType ?? 'copy_code'
  if (type === 'copy_code') refuseAppFields(body, faults)
  else checkApp(body, type, faults)
  if (type === 'zero_tap' && body.zeroTapTermsAccepted !== true) {
    faults.add('zeroTapTermsAccepted', 'must be true for otpType zero_tap')
  }
  return {
    type,
    addSecurityRecommendation: body.addSecurityRecommendation ?? false,
    codeExpirationMinutes: body.codeExpirationMinutes ?? null,
    buttonText: body.otpButtonText ?? null,
    packageName: body.packageName ?? null,
    signatureHash: body.signatureHash ?? null,
    zeroTapTermsAccepted: body.zeroTapTermsAccepted ?? false,
  }
}

function refuseAppFields(body: TemplateCreate, faults: Faults): void {
  for (const field of ['packageName', 'signatureHash'] as const) {
    if (body[field] !== undefined) faults.add(field, 'is only for otpType one_tap or zero_tap')
  }
}

function checkApp({ packageName, signatureHash }: TemplateCreate, type: string, faults: Faults): void {
  if (packageName === undefined) faults.add('packageName', `is required for otpType ${type}`)
  else if (!PACKAGE.test(packageName))
    faults.add('packageName', 'must be an Android package name, as in com.example.app')
  if (signatureHash === undefined) faults.add('signatureHash', `is required for otpType ${type}`)
  else if (!SIGNATURE.test(signatureHash)) {
    faults.add('signatureHash', 'must be the 11 characters of the app’s signature hash')
  }
}

/** The text of an official OTP, for records and previews; the provider sends its own text. */
export function otpText({ addSecurityRecommendation, codeExpirationMinutes }: TemplateOtp) {
  const advice = addSecurityRecommendation ? ' For your security, do not share this code.' : ''
  const expiry =
    codeExpirationMinutes === null ? null : `This code expires in ${codeExpirationMinutes} minutes.`
  return { body: [1, ` is your verification code.${advice}`] as const, footer: expiry }
}
