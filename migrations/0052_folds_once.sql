-- A fold whose response was lost is repeated, and recognised by its id. Records of earlier versions have none.
alter table fraud_words add column fold uuid;
create unique index fraud_words_fold on fraud_words (fold);
