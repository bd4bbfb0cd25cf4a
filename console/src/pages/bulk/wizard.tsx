import { Anchor, Button, Group, Stack, Stepper, Text } from '@mantine/core'
import { ArrowLeft, ArrowRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { Card, Page } from '../../parts/page.tsx'
import { useGo } from '../../parts/use-go.ts'
import { CheckRows } from './check-rows.tsx'
import { FileDrop } from './file-drop.tsx'
import { MapColumns } from './map-columns.tsx'
import type { OpenSheet } from './open-sheet.ts'
import { guessColumns, hasLostPlus, missingIn, type Plan } from './plan.ts'
import { RunJob } from './run-job.tsx'
import classes from './wizard.module.css'

const STEPS = ['File', 'Columns', 'Rows', 'Run'] as const

/** Steps from a file to a running job; nothing is sent before the last one. */
export default function Wizard() {
  const go = useGo()
  const [step, setStep] = useState(0)
  const [sheet, setSheet] = useState<OpenSheet | null>(null)
  const [plan, setPlan] = useState<Plan | null>(null)
  const top = useRef<HTMLDivElement>(null)
  useEffect(() => () => sheet?.close(), [sheet])

  function open(opened: OpenSheet): void {
    const columns = guessColumns(opened.names)
    setSheet(opened)
    setPlan({
      columns,
      channel: 'auto',
      messageType: 'utility',
      template: null,
      sender: '',
      text: '',
      addPlus: hasLostPlus(opened.first, columns),
    })
    goToStep(1)
  }

  function goToStep(to: number): void {
    setStep(to)
    top.current?.focus()
  }

  const fault = plan && missingIn(plan)
  return (
    <Page
      title="New bulk job"
      lead={
        <Anchor component={Link} href="/bulk" size="sm">
          All jobs
        </Anchor>
      }
    >
      <div
        ref={top}
        tabIndex={-1}
        style={{ outline: 'none' }}
        aria-label={`Step ${step + 1}: ${STEPS[step]}`}
        role="group"
      >
        <Stepper
          active={step}
          onStepClick={to => to < step && goToStep(to)}
          size="sm"
          mb="lg"
          wrap={false}
          classNames={{ step: classes.step, stepBody: classes.name }}
        >
          {STEPS.map((label, at) => (
            <Stepper.Step key={label} label={label} allowStepSelect={at < step} />
          ))}
        </Stepper>
        <Stack gap="lg">
          {step === 0 && <FileDrop onOpen={open} />}
          {sheet && plan && step === 1 && <MapColumns sheet={sheet} plan={plan} onPlan={setPlan} />}
          {sheet && plan && step === 2 && <CheckRows sheet={sheet} plan={plan} />}
          {sheet && plan && step === 3 && (
            <RunJob sheet={sheet} plan={plan} onJob={id => go(`/bulk/${id}`)} />
          )}
          {step > 0 && (
            <Group justify="space-between">
              <Button
                variant="default"
                leftSection={<ArrowLeft size={15} />}
                onClick={() => goToStep(step - 1)}
              >
                Back
              </Button>
              {step < 3 && (
                <Group gap="md">
                  {fault !== null && (
                    <Text size="sm" c="dimmed" aria-live="polite">
                      {fault}
                    </Text>
                  )}
                  <Button
                    rightSection={<ArrowRight size={15} />}
                    disabled={fault !== null}
                    onClick={() => goToStep(step + 1)}
                  >
                    Next
                  </Button>
                </Group>
              )}
            </Group>
          )}
          {step === 0 && <Help />}
        </Stack>
      </div>
    </Page>
  )
}

function Help() {
  return (
    <Card title="File format">
      <Text c="dimmed" size="sm">
        The first row has the column names; each further row is one message. A message needs a recipient (a
        phone number with + and country code, an e-mail address or a chat id), and either a text or the values
        of a template’s variables. Use the command line for files that are too large for a browser:{' '}
        <span className="ph-mono">posthorn bulk send people.csv --rate 5</span>.
      </Text>
    </Card>
  )
}
