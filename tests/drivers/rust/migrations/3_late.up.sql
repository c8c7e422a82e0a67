-- no-transaction
CREATE INDEX person_born ON person (born);
