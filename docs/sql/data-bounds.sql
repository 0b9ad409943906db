-- data bounds
SET param_app = '11111111-2222-4333-8444-555555555555';
SELECT
    sum(l.events) AS events,
    toUnixTimestamp64Milli(min(l.oldest)) AS oldest,
    toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE (l.app_id = {app:UUID}) AND (l.kind = 'session');
