import { Loader, Stack, Text } from '@mantine/core'
import { FileSpreadsheet } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { ChooseFile } from '../../parts/choose-file.tsx'
import { useIsHere } from '../../parts/use-is-here.ts'
import classes from './file-drop.module.css'
import { type OpenSheet, openSheet } from './open-sheet.ts'

const ACCEPT = '.csv,.tsv,.txt,.xlsx,text/csv'

/** Takes a file by drop or by choice, and reads it. */
export function FileDrop({ onOpen }: { onOpen: (sheet: OpenSheet) => void }) {
  const [over, setOver] = useState(false)
  const [reading, setReading] = useState<{ name: string; rows: number } | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const isHere = useIsHere()

  async function read(file: File | undefined): Promise<void> {
    if (!file || reading) return
    setFault(null)
    setReading({ name: file.name, rows: 0 })
    try {
      const sheet = await openSheet(file, rows => setReading({ name: file.name, rows }))
      // The component was unmounted: the worker, which holds the whole file, must be ended.
      if (isHere()) onOpen(sheet)
      else sheet.close()
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The file cannot be read.')
    } finally {
      setReading(null)
    }
  }

  function drop(event: DragEvent): void {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0])
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same for whoever does not drag
    <div
      className={classes.drop}
      data-over={over || undefined}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="xs" aria-live="polite">
        {reading ? (
          <>
            <Loader size="sm" aria-label="Reading" />
            <Text>
              Reading <bdi>{reading.name}</bdi>
              {reading.rows > 0 && `: ${reading.rows.toLocaleString()} rows so far`}
            </Text>
          </>
        ) : (
          <>
            <FileSpreadsheet size={32} strokeWidth={1.4} color="var(--ph-quiet)" aria-hidden />
            <Text fw={600}>Drop a CSV or Excel file here</Text>
            <ChooseFile accept={ACCEPT} onFile={read} variant="default">
              Choose a file
            </ChooseFile>
          </>
        )}
        {fault !== null && (
          <Text c="var(--mantine-color-error)" role="alert">
            {fault}
          </Text>
        )}
      </Stack>
    </div>
  )
}
