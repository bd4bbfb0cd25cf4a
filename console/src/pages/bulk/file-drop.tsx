import { Button, FileButton, Loader, Stack, Text } from '@mantine/core'
import { FileSpreadsheet } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import classes from './file-drop.module.css'
import { type OpenSheet, openSheet } from './open-sheet.ts'

const ACCEPT = '.csv,.tsv,.txt,.xlsx,text/csv'

/** Takes a file by drop or by choice, and reads it. */
export function FileDrop({ onOpen }: { onOpen: (sheet: OpenSheet) => void }) {
  const [over, setOver] = useState(false)
  const [reading, setReading] = useState<{ name: string; rows: number } | null>(null)
  const [fault, setFault] = useState<string | null>(null)

  async function read(file: File | null | undefined): Promise<void> {
    if (!file || reading) return
    setFault(null)
    setReading({ name: file.name, rows: 0 })
    try {
      onOpen(await openSheet(file, rows => setReading({ name: file.name, rows })))
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
            <FileButton onChange={read} accept={ACCEPT}>
              {props => (
                <Button {...props} variant="default">
                  Choose a file
                </Button>
              )}
            </FileButton>
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
