import { Anchor, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'wouter'
import type { SingleSendBody, TemplateView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { EstimateLine } from '../../parts/estimate-line.tsx'
import { Card } from '../../parts/page.tsx'
import { useIdempotentSend } from '../../parts/use-idempotent-send.ts'
import { useSession } from '../../session/context.tsx'
import { kindOf } from './kinds.ts'

const SETTLE_MS = 250
type Values = { to: string; variables: string[]; buttons: string[] }

/** A test send with this template, with an estimate first. */
export function TestSend({ template }: { template: TemplateView }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { mode, can } = useSession()
  const once = useIdempotentSend()
  const [sent, setSent] = useState<string | null>(null)
  const form = useApiForm<Values, { messageId: string }>({
    initial: {
      to: '',
      variables: template.indexedPlaceholders.map((_, at) => template.parameters[at] ?? ''),
      buttons: template.urlButtonVariables.map(each => endOf(template, each)),
    },
    async send(values) {
      setSent(null)
      const body = bodyOf(template, values)
      const answer = await once(body, idempotencyKey =>
        api.post('/api/v2/messages/send', { body, idempotencyKey }),
      )
      if (!('tracking' in answer)) throw new Error('a batch was not asked for')
      return { messageId: answer.tracking.messageId }
    },
    fieldOf: path =>
      path
        .replace(/^template\.variablesIndexed/, 'variables')
        .replace(/^template\.buttonVariables\[(\d+)\].*/, 'buttons[$1]'),
    onDone({ messageId }) {
      setSent(messageId)
      invalidate(['/api/v2/messages', '/api/v2/sandbox', '/api/v2/wallet', '/api/v2/stats'])
    },
  })
  const [settled] = useDebouncedValue(form.fields.values, SETTLE_MS)
  const { getInputProps } = form.fields

  return (
    <Card title={mode === 'test' ? 'Send a test' : 'Send one'}>
      <ApiForm
        form={form}
        submitLabel={mode === 'test' ? 'Send to the sandbox' : 'Send it for real'}
        disabled={form.fields.values.to === ''}
      >
        <TextInput
          label="To"
          placeholder={kindOf(template) === 'email' ? 'someone@example.com' : '+12025550123'}
          autoComplete="off"
          dir="ltr"
          {...getInputProps('to')}
        />
        {template.indexedPlaceholders.length > 0 && (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            {template.indexedPlaceholders.map((place, at) => (
              <TextInput key={place} label={place} {...getInputProps(`variables.${at}`)} />
            ))}
          </SimpleGrid>
        )}
        {template.urlButtonVariables.map(({ index }, at) => (
          <TextInput
            key={index}
            label={`Button ${index + 1}: end of the URL`}
            dir="ltr"
            {...getInputProps(`buttons.${at}`)}
          />
        ))}
        <EstimateLine body={settled.to === '' ? null : bodyOf(template, settled)} />
        {sent !== null && (
          <Stack gap={2} role="status">
            <Text size="sm">
              The message is accepted.{' '}
              {can('messages:read') && (
                <Anchor component={Link} href={`/messages/${sent}`} size="sm">
                  See its status
                </Anchor>
              )}
              {can('messages:read') && mode === 'test' && ' or '}
              {mode === 'test' && (
                <Anchor component={Link} href="/sandbox" size="sm">
                  {can('messages:read') ? 'the sandbox inbox' : 'See the sandbox inbox'}
                </Anchor>
              )}
            </Text>
          </Stack>
        )}
      </ApiForm>
    </Card>
  )
}

function bodyOf(template: TemplateView, { to, variables, buttons }: Values): SingleSendBody {
  return {
    to,
    template: {
      id: template.id,
      ...(variables.length > 0 && { variablesIndexed: variables }),
      ...(buttons.length > 0 && {
        buttonVariables: template.urlButtonVariables.map(({ index, subType }, at) => ({
          index,
          subType,
          text: buttons[at] ?? '',
        })),
      }),
    },
  }
}

/** The variable part of a button's URL: the example has the whole URL. */
function endOf(
  { buttons }: TemplateView,
  { index, example }: TemplateView['urlButtonVariables'][number],
): string {
  const fixed = buttons?.[index]?.url?.replace(/\{\{1\}\}$/, '')
  if (example === null || fixed === undefined) return example ?? ''
  return example.startsWith(fixed) ? example.slice(fixed.length) : example
}
